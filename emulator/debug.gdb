# Commands for kernels that run in Monograph's emulator, and the words of CUDA in expressions.

macro define threadIdx (emu::current->index)
macro define blockIdx (emu::current->block->index)
macro define blockDim (emu::launch->block)
macro define gridDim (emu::launch->grid)

define cuda-thread
  printf "thread (%u, %u, %u) of block (%u, %u, %u), kernel %s, %u threads in a block\n", threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, emu::launch->symbol._M_dataplus._M_p, emu::launch->threads
end
document cuda-thread
Print which CUDA thread runs. The parts are also expressions: threadIdx, blockIdx, blockDim, gridDim.
end

define cuda-threads
  set $cuda_all = emu::current->block->fibers._M_impl._M_start
  set $cuda_i = 0
  while $cuda_i < emu::launch->threads
    set $cuda_first = $cuda_i
    set $cuda_one = $cuda_all + $cuda_i
    set $cuda_i = $cuda_i + 1
    while $cuda_one != emu::current && $cuda_i < emu::launch->threads && $cuda_all + $cuda_i != emu::current && $cuda_all[$cuda_i].state == $cuda_one->state && ($cuda_one->state == emu::State::Ready || $cuda_one->state == emu::State::Ended || $cuda_all[$cuda_i].pc == $cuda_one->pc)
      set $cuda_i = $cuda_i + 1
    end
    printf "%5u..%-5u", $cuda_first, $cuda_i - 1
    if $cuda_one == emu::current
      printf "runs\n"
    else
      if $cuda_one->state == emu::State::Ready
        printf "can go on\n"
      else
        if $cuda_one->state == emu::State::Ended
          printf "ended or not begun\n"
        else
          printf "at %s, ", $cuda_one->call
          info line *$cuda_one->pc
        end
      end
    end
  end
end
document cuda-threads
List the threads of the block that runs, by their numbers within it, and what each of them waits at.
end

define cuda-break
  if $argc == 2
    break $arg0 if threadIdx.x == $arg1 && threadIdx.y == 0 && threadIdx.z == 0 && blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0
  end
  if $argc == 3
    break $arg0 if threadIdx.x == $arg1 && threadIdx.y == 0 && threadIdx.z == 0 && blockIdx.x == $arg2 && blockIdx.y == 0 && blockIdx.z == 0
  end
  if $argc == 7
    break $arg0 if threadIdx.x == $arg1 && threadIdx.y == $arg2 && threadIdx.z == $arg3 && blockIdx.x == $arg4 && blockIdx.y == $arg5 && blockIdx.z == $arg6
  end
  if $argc != 2 && $argc != 3 && $argc != 7
    help cuda-break
  end
end
document cuda-break
Stop at a place in one CUDA thread alone.
cuda-break PLACE THREAD              that thread of block 0
cuda-break PLACE THREAD BLOCK        by their x
cuda-break PLACE TX TY TZ BX BY BZ   by all their parts
PLACE is a kernel, a function, or program:LINE.
end

define cuda-break-findings
  break emu::send_finding
end
document cuda-break-findings
Stop where the emulator reports a finding, before the process ends; `up` leads to the kernel's line.
end

//! `Executable`: a plan on a device, to be replayed; and `Output`, what a replay leaves behind.

use crate::backend::{Bytes, ExecutableBackend};
use crate::device::fits;
use crate::{BareLaunches, Device, ReplayCost, View};
use monograph_ir::plan::{Plan, Slot, Value};
use monograph_ir::tree::{Data, HasSpec, Leaf, Scalar, Source};
use monograph_ir::{AlignedBytes, Array, Binding, Element, Error, Spec};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A plan that is loaded on a device. `Send`, not `Sync`: replays of one executable never overlap.
pub struct Executable {
    device: Device,
    /// The device's place, kept because every replay that is fed an output compares it.
    place: String,
    plan: Arc<Plan>,
    backend: Box<dyn ExecutableBackend>,
    /// One view an output, then one a probe, so that reading needs no search.
    views: Vec<View>,
    cost: ReplayCost,
    not_sync: PhantomData<Cell<()>>,
}

impl Executable {
    pub(crate) fn new(device: Device, plan: Arc<Plan>, backend: Box<dyn ExecutableBackend>) -> Executable {
        let values = plan.outputs.iter().chain(&plan.probes);
        let views = values.map(|v| backend.view(v.slot, v.spec.bytes().unwrap_or(0))).collect();
        let place = device.place();
        Executable { device, place, plan, backend, views, cost: ReplayCost::default(), not_sync: PhantomData }
    }

    /// The device it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The plan it runs.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the plan on these inputs, one source an input, in order. Returns after the launch; reading waits.
    ///
    /// Every input is checked before any is written. A number is converted to the input's dtype if that dtype holds
    /// it; a host slice may feed an input of any shape with as many elements.
    ///
    /// # Errors
    /// [`Error::Count`] and [`Error::Input`] for what does not fit, [`Error::Device`] where the device refuses.
    pub fn replay(&mut self, sources: &[Source<'_>]) -> Result<(), Error> {
        if sources.len() != self.plan.inputs.len() {
            return Err(Error::Count { what: "input", expected: self.plan.inputs.len(), found: sources.len() });
        }
        for (input, source) in self.plan.inputs.iter().zip(sources) {
            if !accepts(&input.spec, source) {
                return Err(refuse(&input.name, &input.spec, source));
            }
            if let Source::Scalar(scalar) = source {
                convert(&input.name, &input.spec, scalar)?;
            }
            if let Source::Foreign { data, .. } = source {
                self.check_place(&input.name, &input.spec, data.downcast_ref::<View>())?;
            }
            if input.binding == Binding::Bound {
                self.check_bound(&input.name, &input.spec, source)?;
            }
        }
        match self.feed(sources).and_then(|()| self.backend.launch()) {
            Ok(()) => {
                self.cost = self.backend.take_cost();
                Ok(())
            }
            Err(error) => {
                self.backend.discard();
                self.backend.take_cost();
                Err(error)
            }
        }
    }

    /// Writes and binds inputs that were checked.
    fn feed(&mut self, sources: &[Source<'_>]) -> Result<(), Error> {
        let plan = self.plan.clone();
        for (i, (input, source)) in plan.inputs.iter().zip(sources).enumerate() {
            match (input.binding, source) {
                (Binding::Bound, Source::Array(array)) => self.backend.bind(i, array)?,
                (Binding::Bound, _) => return Err(refuse(&input.name, &input.spec, source)),
                (Binding::Copied, Source::Array(array)) => match array.host_bytes() {
                    Some(bytes) => self.backend.write(i, Bytes::Host(bytes))?,
                    None => self.backend.write(i, Bytes::Array(array))?,
                },
                (Binding::Copied, Source::Slice { bytes, .. }) => self.backend.write(i, Bytes::Host(bytes))?,
                (Binding::Copied, Source::Foreign { data, .. }) => match data.downcast_ref::<View>() {
                    Some(view) => self.backend.write(i, Bytes::View(view))?,
                    None => return Err(refuse(&input.name, &input.spec, source)),
                },
                (Binding::Copied, Source::Scalar(scalar)) => {
                    let scalar = convert(&input.name, &input.spec, scalar)?;
                    self.backend.write(i, Bytes::Host(scalar.bytes()))?;
                }
            }
        }
        Ok(())
    }

    /// An output of another executable feeds this one if both are on one device.
    fn check_place(&self, name: &str, spec: &Spec, view: Option<&View>) -> Result<(), Error> {
        match view {
            Some(view) if *view.place == *self.place => Ok(()),
            Some(view) => Err(Error::Input {
                what: "input",
                name: name.to_string(),
                expected: spec.clone(),
                found: format!(
                    "an output on {}, and this is {}: copy it out, `output.to_array()?`",
                    view.place, self.place
                ),
            }),
            None => Err(Error::Internal("a source that this runtime does not know".into())),
        }
    }

    /// A bound input must be an array in the device's own memory.
    fn check_bound(&self, name: &str, spec: &Spec, source: &Source<'_>) -> Result<(), Error> {
        let found = match source {
            Source::Array(array) if self.backend.owns(array) => return Ok(()),
            Source::Array(array) => format!(
                "an array on {}; a bound input reads memory of {}: copy it there once with `device.upload(&array)`",
                array.place(),
                self.device.place()
            ),
            _ => "something that is no array; a bound input needs one on the device: `device.upload(&array)`".into(),
        };
        Err(Error::Input { what: "input", name: name.to_string(), expected: spec.clone(), found })
    }

    /// The output of that number.
    ///
    /// # Panics
    /// If there are not so many; `plan().outputs` lists them.
    pub fn output(&self, number: usize) -> Output<'_> {
        Output { executable: self, value: &self.plan.outputs[number], view: &self.views[number] }
    }

    /// The output of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names there are.
    pub fn output_named(&self, name: &str) -> Result<Output<'_>, Error> {
        find("output", &self.plan.outputs, name).map(|i| self.output(i))
    }

    /// The probe of that name, as the last replay left it.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names there are.
    pub fn probe(&self, name: &str) -> Result<Output<'_>, Error> {
        let number = find("probe", &self.plan.probes, name)?;
        let view = &self.views[self.plan.outputs.len() + number];
        Ok(Output { executable: self, value: &self.plan.probes[number], view })
    }

    /// A copy of every state on the host, in order of declaration.
    ///
    /// # Errors
    /// [`Error::Device`] where a launch has failed.
    pub fn states(&self) -> Result<Vec<Array>, Error> {
        self.plan.states.iter().map(|s| self.read(&s.spec, Slot { buffer: s.buffer, offset: 0 })).collect()
    }

    /// Replaces every state. All are checked before any is written.
    ///
    /// # Errors
    /// [`Error::Count`] and [`Error::Input`] for arrays that do not fit.
    pub fn set_states(&mut self, arrays: &[Array]) -> Result<(), Error> {
        fits("state", self.plan.states.iter().map(|s| (&s.name, &s.spec)), arrays)?;
        for (i, array) in arrays.iter().enumerate() {
            match array.host_bytes() {
                Some(bytes) => self.backend.write_state(i, Bytes::Host(bytes))?,
                None => self.backend.write_state(i, Bytes::Array(array))?,
            }
        }
        Ok(())
    }

    fn read(&self, spec: &Spec, slot: Slot) -> Result<Array, Error> {
        let mut bytes = AlignedBytes::zeroed(spec.bytes().unwrap_or(0) as usize)?;
        self.backend.read(slot, &mut bytes)?;
        Ok(Array::from_aligned(spec.clone(), bytes)?)
    }

    /// Waits until every replay is complete.
    ///
    /// # Errors
    /// [`Error::Device`] where one has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.backend.synchronize()
    }

    /// Launches the plan as it stands so many times, and measures that: what a replay is compared with. State moves
    /// on as with replays.
    ///
    /// # Errors
    /// [`Error::Device`] on the host, which launches nothing, before the first replay of a plan with bound inputs, and
    /// where the device refuses.
    pub fn measure_bare_launches(&mut self, launches: u32) -> Result<BareLaunches, Error> {
        self.backend.measure_bare_launches(launches)
    }

    /// What the last replay cost.
    pub fn cost(&self) -> ReplayCost {
        self.cost
    }

    /// Reads the CUDA graph back from the driver and compares every node, argument and edge with the plan. On the host
    /// there is nothing to compare.
    ///
    /// # Errors
    /// [`Error::Internal`] where they differ, [`Error::Device`] where the driver refuses.
    pub fn compare_with_plan(&self) -> Result<(), Error> {
        self.backend.compare_with_plan()
    }

    /// The graph as the driver sees it, in DOT; `None` on the host.
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Io`] where the driver cannot print it.
    pub fn driver_dot(&self) -> Result<Option<String>, Error> {
        self.backend.driver_dot()
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable({} on {}, {} launches)", self.plan.name, self.device.place(), self.plan.launches.len())
    }
}

fn find(what: &'static str, values: &[Value], name: &str) -> Result<usize, Error> {
    values.iter().position(|v| v.name == name).ok_or_else(|| Error::Unknown {
        what,
        name: name.to_string(),
        known: values.iter().map(|v| v.name.clone()).collect(),
    })
}

fn refuse(name: &str, expected: &Spec, source: &Source<'_>) -> Error {
    let found = source.spec().to_string();
    Error::Input { what: "input", name: name.to_string(), expected: expected.clone(), found }
}

/// A number as the input's dtype.
fn convert(name: &str, spec: &Spec, scalar: &Scalar) -> Result<Scalar, Error> {
    scalar.convert(spec.dtype).map_err(|e| Error::Input {
        what: "input",
        name: name.to_string(),
        expected: spec.clone(),
        found: e.to_string(),
    })
}

/// Whether a source can feed an input, whatever the device.
fn accepts(spec: &Spec, source: &Source<'_>) -> bool {
    match source {
        Source::Array(array) => array.spec() == spec,
        Source::Foreign { spec: found, .. } => *found == spec,
        Source::Scalar(_) => spec.shape.rank() == 0,
        Source::Slice { dtype, len, .. } => *dtype == spec.dtype && spec.shape.elements() == Some(*len),
    }
}

/// A value that a replay computed, in the executable's memory. The next replay overwrites it, so it borrows the
/// executable; copy it out to keep it.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    executable: &'a Executable,
    value: &'a Value,
    view: &'a View,
}

impl Output<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.value.name
    }

    /// The elements in row-major order. Waits for the replay.
    ///
    /// # Errors
    /// [`Error::Array`] if `T` is not the dtype, [`Error::Device`] where the replay has failed.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        Ok(self.to_array()?.to_vec()?)
    }

    /// The only element. Waits for the replay.
    ///
    /// # Errors
    /// As [`Output::to_vec`], and if there is not exactly one element.
    pub fn item<T: Element>(&self) -> Result<T, Error> {
        Ok(self.to_array()?.item()?)
    }

    /// A copy on the host. Waits for the replay.
    ///
    /// # Errors
    /// [`Error::Device`] where the replay has failed.
    pub fn to_array(&self) -> Result<Array, Error> {
        self.executable.read(&self.value.spec, self.value.slot)
    }

    /// A copy in the device's memory, for a bound input or to keep without a detour over the host.
    ///
    /// # Errors
    /// [`Error::Device`] where there is not enough memory or the replay has failed.
    pub fn to_device_array(&self) -> Result<Array, Error> {
        self.executable.backend.to_device_array(self.value.slot, &self.value.spec)
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({}: {} on {})", self.value.name, self.value.spec, self.executable.device.place())
    }
}

impl Leaf for Output<'_> {}

impl HasSpec for Output<'_> {
    fn spec(&self) -> &Spec {
        &self.value.spec
    }
}

impl Data for Output<'_> {
    fn source(&self) -> Source<'_> {
        Source::Foreign { data: self.view, spec: &self.value.spec }
    }
}

//! Scans that leave the element itself out or run from the end, `logcumsumexp`, and differences.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{record, reject, scope};
use super::{AxisIndex, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Literal, Op, Reduction, Shape};

/// Which elements a scan combines at each place. The default is that of [`Tensor::cumsum`]: all up to and with it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ScanForm {
    /// The element itself is left out; the first place gets the neutral element.
    pub exclusive: bool,
    /// The scan runs from the end: what comes behind is combined, not what comes before.
    pub reverse: bool,
}

macro_rules! scans {
    ($($(#[doc = $doc:literal])+ $method:ident $kind:ident $expected:literal;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                ///
                /// ```
                /// # use monograph_compiler::trace::{ScanForm, Tensor, trace};
                /// # use monograph_ir::{Element, interp};
                /// let before = ScanForm { exclusive: true, ..ScanForm::default() };
                #[doc = concat!("let program = trace(|x: Tensor| x.", stringify!($method), "(0, before), i32::spec([3]))?;")]
                /// let x = interp::Tensor::from_vec([3], vec![2, 3, 1]).unwrap();
                /// let scanned = interp::evaluate(program.graph(), &[x]).unwrap();
                #[doc = concat!("assert_eq!(scanned[0].elements::<i32>(), Some(&", $expected, "[..]));")]
                /// # Ok::<(), monograph_ir::Error>(())
                /// ```
                #[track_caller]
                pub fn $method(&self, axis: impl AxisIndex, form: ScanForm) -> Tensor {
                    let _scope = scope(stringify!($method));
                    self.scan_with(Reduction::$kind, axis, form)
                }
            )*
        }
    };
}

scans! {
    /// Prefix sums of numbers along `axis` in that form; the neutral element is 0.
    cumsum_with Sum "[0, 2, 5]";
    /// Prefix products of numbers along `axis` in that form; the neutral element is 1.
    cumprod_with Prod "[1, 2, 6]";
    /// The greatest element so far along `axis` in that form; NaN stays. The neutral element is the smallest of the
    /// dtype: -inf, the least integer, `false`.
    cummax_with Max "[i32::MIN, 2, 3]";
    /// The smallest element so far along `axis` in that form; NaN stays. The neutral element is the greatest of the
    /// dtype: inf, the greatest integer, `true`.
    cummin_with Min "[i32::MAX, 2, 2]";
}

impl Tensor {
    #[track_caller]
    fn scan_with(&self, kind: Reduction, axis: impl AxisIndex, form: ScanForm) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let ahead = if form.reverse { self.flip(axis) } else { *self };
        let mut scanned = record(Op::Scan { kind, axis }, &[ahead]);
        if form.exclusive && scanned.known().is_some() {
            let neutral = filled(neutral(kind, spec.dtype), Shape::scalar());
            let mut low = vec![0; spec.shape.rank()];
            let mut high = low.clone();
            // An empty axis stays empty.
            if spec.shape[axis] > 0 {
                (low[axis], high[axis]) = (1, -1);
            }
            scanned = scanned.pad(&low, &high, neutral);
        }
        if form.reverse { scanned.flip(axis) } else { scanned }
    }

    /// `ln` of the prefix sums of `e^x` of floats along `axis`, without overflow and as accurate at every place as
    /// [`Tensor::logsumexp`]. The work is quadratic in the extent of the axis.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.logcumsumexp(-1), f32::spec([4, 9]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 9]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn logcumsumexp(&self, axis: impl AxisIndex) -> Tensor {
        if let Err(poison) = self.require_float("logcumsumexp") {
            return poison;
        }
        let _scope = scope("logcumsumexp");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let n = spec.shape[axis];
        if n == 0 {
            return *self;
        }
        // Row `i` of a square holds the elements up to `i`, and -inf, whose exponential is 0, behind them.
        let last = self.widened().transpose(axis, -1);
        let rows = last.unsqueeze(-2);
        let before = super::iota(INDEX, [n, n], 1).le(super::iota(INDEX, [n, n], 0));
        let sums = before.select(rows, rows.constant_like(f64::NEG_INFINITY)).logsumexp(-1);
        sums.transpose(axis, -1).rounded_as(self)
    }

    /// The differences of neighbours along `axis`, `order` times: `x[1..] - x[..n - 1]`. Each time the extent is one
    /// less, down to 0. Integers wrap; bools are refused.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.diff(2, -1), f32::spec([4, 9]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn diff(&self, order: usize, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("diff");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        if spec.dtype == monograph_ir::DType::Bool {
            let help = "neighbours that differ: `x.slice(axis, 1..).ne(x.slice(axis, ..n - 1))`".to_string();
            let message = "`diff` takes numbers, not bool".to_string();
            return reject(codes::OPERANDS, message, "needs numbers", &[*self], &[help]);
        }
        let extent = spec.shape[axis];
        if order >= extent {
            return self.slice(axis, ..0);
        }
        let mut differences = *self;
        for extent in (extent - order + 1..=extent).rev() {
            differences = differences.slice(axis, 1..) - differences.slice(axis, ..extent - 1);
        }
        differences
    }
}

/// What changes nothing when it is combined.
fn neutral(kind: Reduction, dtype: monograph_ir::DType) -> Literal {
    match kind {
        Reduction::Sum | Reduction::Any => Literal::zero(dtype),
        Reduction::Prod | Reduction::All => Literal::one(dtype),
        // Integers saturate, so infinity is their end.
        Reduction::Max if dtype == monograph_ir::DType::Bool => Literal::zero(dtype),
        Reduction::Max => Literal::from_f64(dtype, f64::NEG_INFINITY),
        Reduction::Min => Literal::from_f64(dtype, f64::INFINITY),
    }
}

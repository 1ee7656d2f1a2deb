//! Activations: composites of the rows, computed in f32 for f16 and bf16 and rounded once.

use super::Tensor;
use super::tracer::scope;

impl Tensor {
    /// The greater of `x` and 0; NaN stays.
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        let zero = self.constant_like(0.0);
        let _scope = scope("relu");
        self.maximum(zero)
    }

    /// `1 / (1 + e^-x)` of floats.
    #[track_caller]
    pub fn sigmoid(&self) -> Tensor {
        if let Err(poison) = self.require_float("sigmoid") {
            return poison;
        }
        let _scope = scope("sigmoid");
        let x = self.widened();
        let one = x.constant_like(1.0);
        (one / ((-x).exp() + one)).rounded_as(self)
    }

    /// `x * sigmoid(x)` of floats, also called swish.
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        if let Err(poison) = self.require_float("silu") {
            return poison;
        }
        let _scope = scope("silu");
        let x = self.widened();
        (x * x.sigmoid()).rounded_as(self)
    }

    /// `x * Φ(x)` of floats, with the exact normal distribution function.
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        if let Err(poison) = self.require_float("gelu") {
            return poison;
        }
        let _scope = scope("gelu");
        let x = self.widened();
        let (half, one) = (x.constant_like(0.5), x.constant_like(1.0));
        let scale = x.constant_like(std::f64::consts::FRAC_1_SQRT_2);
        (x * half * ((x * scale).erf() + one)).rounded_as(self)
    }

    /// The approximation of [`Tensor::gelu`] by `tanh`, as GPT-2 uses it.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        if let Err(poison) = self.require_float("gelu_tanh") {
            return poison;
        }
        let _scope = scope("gelu_tanh");
        let x = self.widened();
        let (half, one, cubic) = (x.constant_like(0.5), x.constant_like(1.0), x.constant_like(0.044715));
        let root = x.constant_like((2.0 / std::f64::consts::PI).sqrt());
        let inner = (x + x * x * x * cubic) * root;
        (x * half * (inner.tanh() + one)).rounded_as(self)
    }

    /// `ln(1 + e^x)` of floats, without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Tensor {
        if let Err(poison) = self.require_float("softplus") {
            return poison;
        }
        let _scope = scope("softplus");
        let x = self.widened();
        (x.relu() + (-x.abs()).exp().log1p()).rounded_as(self)
    }

    /// `x` between 0 and 6; NaN stays.
    #[track_caller]
    pub fn relu6(&self) -> Tensor {
        let (zero, six) = (self.constant_like(0.0), self.constant_like(6.0));
        let _scope = scope("relu6");
        self.maximum(zero).minimum(six)
    }

    /// `x` where positive, else `slope * x`, of floats.
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Tensor {
        if let Err(poison) = self.require_float("leaky_relu") {
            return poison;
        }
        let _scope = scope("leaky_relu");
        let x = self.widened();
        let (zero, slope) = (x.constant_like(0.0), x.constant_like(slope));
        x.gt(zero).select(x, x * slope).rounded_as(self)
    }

    /// `x` where positive, else `alpha * (e^x - 1)`, of floats.
    #[track_caller]
    pub fn elu(&self, alpha: f64) -> Tensor {
        if let Err(poison) = self.require_float("elu") {
            return poison;
        }
        let _scope = scope("elu");
        let x = self.widened();
        let (zero, alpha) = (x.constant_like(0.0), x.constant_like(alpha));
        x.gt(zero).select(x, x.expm1() * alpha).rounded_as(self)
    }

    /// `x` where positive, else `alpha * (e^(x / alpha) - 1)`, of floats: its slope is 1 at 0 for every `alpha`.
    #[track_caller]
    pub fn celu(&self, alpha: f64) -> Tensor {
        if let Err(poison) = self.require_float("celu") {
            return poison;
        }
        let _scope = scope("celu");
        let x = self.widened();
        let (zero, alpha) = (x.constant_like(0.0), x.constant_like(alpha));
        x.gt(zero).select(x, (x / alpha).expm1() * alpha).rounded_as(self)
    }

    /// [`Tensor::elu`] with the `alpha` 1.67326… and the factor 1.05070… that keep mean and variance of a normalizing
    /// network.
    #[track_caller]
    pub fn selu(&self) -> Tensor {
        if let Err(poison) = self.require_float("selu") {
            return poison;
        }
        let _scope = scope("selu");
        let x = self.widened();
        let (zero, alpha) = (x.constant_like(0.0), x.constant_like(1.6732632423543772));
        let scale = x.constant_like(1.0507009873554805);
        (x.gt(zero).select(x, x.expm1() * alpha) * scale).rounded_as(self)
    }

    /// `x` between -1 and 1; NaN stays.
    #[track_caller]
    pub fn hard_tanh(&self) -> Tensor {
        if let Err(poison) = self.require_float("hard_tanh") {
            return poison;
        }
        let (low, high) = (self.constant_like(-1.0), self.constant_like(1.0));
        let _scope = scope("hard_tanh");
        self.maximum(low).minimum(high)
    }

    /// `(x + 3) / 6` between 0 and 1, of floats.
    #[track_caller]
    pub fn hard_sigmoid(&self) -> Tensor {
        if let Err(poison) = self.require_float("hard_sigmoid") {
            return poison;
        }
        let _scope = scope("hard_sigmoid");
        let x = self.widened();
        let (three, six) = (x.constant_like(3.0), x.constant_like(6.0));
        ((x + three).relu6() / six).rounded_as(self)
    }

    /// `x * hard_sigmoid(x)` of floats.
    #[track_caller]
    pub fn hard_swish(&self) -> Tensor {
        if let Err(poison) = self.require_float("hard_swish") {
            return poison;
        }
        let _scope = scope("hard_swish");
        let x = self.widened();
        (x * x.hard_sigmoid()).rounded_as(self)
    }

    /// `x * tanh(ln(1 + e^x))` of floats. -inf gives NaN.
    #[track_caller]
    pub fn mish(&self) -> Tensor {
        if let Err(poison) = self.require_float("mish") {
            return poison;
        }
        let _scope = scope("mish");
        let x = self.widened();
        (x * x.softplus().tanh()).rounded_as(self)
    }

    /// `x / (1 + |x|)` of floats. ±inf gives NaN.
    #[track_caller]
    pub fn softsign(&self) -> Tensor {
        if let Err(poison) = self.require_float("softsign") {
            return poison;
        }
        let _scope = scope("softsign");
        let x = self.widened();
        let one = x.constant_like(1.0);
        (x / (x.abs() + one)).rounded_as(self)
    }

    /// `ln(sigmoid(x))` of floats, accurate where that is near 0.
    #[track_caller]
    pub fn log_sigmoid(&self) -> Tensor {
        if let Err(poison) = self.require_float("log_sigmoid") {
            return poison;
        }
        let _scope = scope("log_sigmoid");
        let x = self.widened();
        (-(-x).softplus()).rounded_as(self)
    }
}

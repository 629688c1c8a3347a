//! Weights of mixtures of experts.

use super::{DenseWeights, Loader, Vector, Weight};
use crate::arch::{ExpertTensors, SharedExpertTensors};
use crate::error::{Error, Result};
use crate::metal::operations::ExpertMatrices;
use crate::weights::TensorInfo;

/// The matrices of all experts.
pub(in crate::plan) struct ExpertWeight {
    /// Format and size of each, and the data of all.
    pub(in crate::plan) each: Weight,
    count: usize,
}

impl ExpertWeight {
    pub(in crate::plan) fn matrices(&self) -> ExpertMatrices<'_> {
        ExpertMatrices { each: self.each.matrix(), count: self.count }
    }
}

/// Weights of a mixture of experts.
pub(in crate::plan) struct ExpertsWeights {
    pub(in crate::plan) router: Weight,
    pub(in crate::plan) router_bias: Option<Vector>,
    pub(in crate::plan) selection_bias: Option<Vector>,
    pub(in crate::plan) gate: ExpertWeight,
    pub(in crate::plan) up: ExpertWeight,
    pub(in crate::plan) down: ExpertWeight,
    /// Of gate, up and down.
    pub(in crate::plan) biases: Option<[Vector; 3]>,
    /// The expert that all tokens use.
    pub(in crate::plan) shared: Option<SharedExpertWeights>,
}

/// Weights of the expert that all tokens use.
pub(in crate::plan) struct SharedExpertWeights {
    /// One row: the sigmoid of the product is the factor of its result. `None` if it has none.
    pub(in crate::plan) factor: Option<Weight>,
    pub(in crate::plan) network: DenseWeights,
}

impl ExpertsWeights {
    /// Matrices of the products that share the input.
    pub(in crate::plan) fn inputs(&self) -> Vec<&Weight> {
        let shared = self.shared.iter().flat_map(|shared| shared.factor.iter().chain(shared.network.inputs()));
        [&self.router, &self.gate.each, &self.up.each].into_iter().chain(shared).collect()
    }
}

impl Loader<'_> {
    pub(super) fn experts(&mut self, tensors: &ExpertTensors) -> Result<ExpertsWeights> {
        Ok(ExpertsWeights {
            router: self.matrix(&tensors.router)?,
            router_bias: tensors.router_bias.as_ref().map(|bias| self.vector(bias)).transpose()?,
            selection_bias: tensors.selection_bias.as_ref().map(|bias| self.vector(bias)).transpose()?,
            gate: self.expert_matrices(&tensors.gate)?,
            up: self.expert_matrices(&tensors.up)?,
            down: self.expert_matrices(&tensors.down)?,
            biases: self.vectors(tensors.biases.as_ref())?,
            shared: tensors.shared.as_ref().map(|shared| self.shared_expert(shared)).transpose()?,
        })
    }

    fn shared_expert(&mut self, tensors: &SharedExpertTensors) -> Result<SharedExpertWeights> {
        let factor = tensors.factor.as_ref().map(|factor| self.matrix(factor)).transpose()?;
        Ok(SharedExpertWeights { factor, network: self.dense(&tensors.network)? })
    }

    fn expert_matrices(&mut self, tensor: &TensorInfo) -> Result<ExpertWeight> {
        let count = usize::try_from(tensor.dimensions.get(2).copied().unwrap_or(1))
            .map_err(|_| Error::Model(format!("tensor '{}' is larger than any memory", tensor.name)))?;
        Ok(ExpertWeight { each: self.matrices_in(None, tensor, count)?, count })
    }
}

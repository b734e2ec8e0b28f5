//! Tables as Arrow streams, handed over without copying text or converting numbers in Python.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, Field, Schema};
use lasthop_core::measure::table::{Column, Table as CoreTable};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table of results. Give it to `pyarrow.table`, `polars.DataFrame` or DuckDB, which read it
/// through `__arrow_c_stream__` without copying.
#[pyclass(frozen, module = "lasthop._core")]
#[derive(Clone)]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    pub fn new(table: CoreTable) -> PyResult<Self> {
        let batch = batch(table).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { batch })
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The table as a stream of the Arrow C interface.
    #[pyo3(signature = (requested_schema: "object | None" = None) -> "object")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer ignore a request for another schema.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

fn batch(table: CoreTable) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(table.columns.len());
    let mut arrays = Vec::with_capacity(table.columns.len());
    for (name, column) in table.columns {
        // A number may be missing, a name may not.
        let nullable = matches!(column, Column::Int(_) | Column::Float(_));
        let array = array(column)?;
        fields.push(Field::new(name, array.data_type().clone(), nullable));
        arrays.push(array);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn array(column: Column) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Text(values) => Arc::new(StringArray::from(values)),
        Column::Names(codes, names) => {
            // pandas reads signed codes only.
            let codes: Vec<i32> = codes.into_iter().map(|code| code as i32).collect();
            Arc::new(DictionaryArray::<Int32Type>::try_new(
                Int32Array::from(codes),
                Arc::new(StringArray::from(names)),
            )?)
        }
        Column::Int(numbers) => {
            let (values, there) = numbers.into_parts();
            Arc::new(Int64Array::new(values.into(), there.map(NullBuffer::from)))
        }
        Column::Float(numbers) => {
            let (values, there) = numbers.into_parts();
            Arc::new(Float64Array::new(values.into(), there.map(NullBuffer::from)))
        }
    })
}

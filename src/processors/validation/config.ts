import { Type, type Static } from 'typebox';
import { section } from '../../config/schema.js';

const limit = (value: number, description: string, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum: 1, maximum, default: value, description });

export const validationConfig = section({
  max_name_length: limit(
    1024,
    'Characters in the name of an agent or a span (without spaces around it), in a model or SDK version, and in the name, unit and label keys of a metric.',
  ),
  max_text_length: limit(
    65_536,
    'Characters in an outcome or an error message, in the description of a metric and in a label.',
  ),
  max_payload_depth: limit(
    64,
    'How many levels deep metadata, input_data and output_data may nest, and the body and attributes of a log record.',
    500,
  ),
  max_spans_per_trace: limit(10_000, 'Spans of one trace within one batch.'),
  max_log_body_length: limit(1_048_576, 'Characters in the body of a log record, if it is a text.'),
  max_labels: limit(128, 'Labels of a metric point.'),
  max_buckets: limit(4096, 'Buckets, quantiles or exemplars of a metric point.'),
});

export type ValidationConfig = Static<typeof validationConfig>;

import type { Component } from '../../component/component.js';
import type { Consumer, Refusal } from '../../component/consumer.js';
import { consumeUnrefused } from '../../component/refuse-items.js';
import type { TracesBatch } from '../../signal/batch.js';
import type { ValidationConfig } from './config.js';
import { checkTrace, type Limits } from './rules.js';

/** Processor `validation`: see README.md. */
export function createValidation(
  config: ValidationConfig,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const limits: Limits = {
    maxNameLength: config.max_name_length,
    maxTextLength: config.max_text_length,
    maxPayloadDepth: config.max_payload_depth,
    maxSpansPerTrace: config.max_spans_per_trace,
  };
  return {
    async consume(batch, context) {
      const refused: Refusal[] = [];
      batch.items.forEach((item, index) => {
        const reason = checkTrace(item, limits);
        if (reason !== undefined) refused.push({ index, id: item.trace.trace_id, reason });
      });
      return consumeUnrefused(batch, refused, next, context);
    },
  };
}

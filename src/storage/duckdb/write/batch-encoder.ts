import type { ConsumeContext } from '../../../component/consumer.js';
import type { Batch, LogsBatch, MetricsBatch, TracesBatch } from '../../../signal/batch.js';
import type { EncodedBatch, WriteEncoder } from '../../contracts/telemetry-writer.js';
import { TracesEncoder, transferablesOf as buffersOfTraces } from '../../incoming/encode-traces.js';
import { LogsEncoder, transferablesOf as buffersOfLogs } from './encode-logs.js';
import { PointsEncoder, transferablesOf as buffersOfPoints } from './encode-points.js';

/** Encodes batches for DuckDB into columns, synchronously. Keeps scratch memory: create one per thread. */
export class BatchEncoder implements WriteEncoder {
  readonly #traces = new TracesEncoder();
  readonly #points = new PointsEncoder();
  readonly #logs = new LogsEncoder();

  traces(batch: TracesBatch, { receivedAt }: ConsumeContext): EncodedBatch {
    const columns = this.#traces.encode(batch, receivedAt);
    return { ...aboutOf(batch), columns, buffers: buffersOfTraces(columns) };
  }

  metrics(batch: MetricsBatch): EncodedBatch {
    const columns = this.#points.encode(batch);
    return { ...aboutOf(batch), columns, buffers: buffersOfPoints(columns) };
  }

  logs(batch: LogsBatch, { receivedAt }: ConsumeContext): EncodedBatch {
    const columns = this.#logs.encode(batch, receivedAt);
    return { ...aboutOf(batch), columns, buffers: buffersOfLogs(columns) };
  }
}

function aboutOf({ tenant, quota, items }: Batch<unknown>) {
  return { tenant, items: items.length, ...(quota && { quota }) };
}

import { parentPort, workerData } from 'node:worker_threads';
import { alertsExporter } from './exporters/alerts/factory.js';
import { storageExporter } from './exporters/storage/factory.js';
import type { IntakeData } from './pipeline/intake/protocol.js';
import { serveIntake } from './pipeline/intake/serve-intake.js';
import { costProcessor } from './processors/cost/factory.js';
import { filterProcessor } from './processors/filter/factory.js';
import { quotaProcessor } from './processors/quota/factory.js';
import { redactProcessor } from './processors/redact/factory.js';
import { sampleProcessor } from './processors/sample/factory.js';
import { resourceProcessor } from './processors/resource/factory.js';
import { serviceMapProcessor } from './processors/service-map/factory.js';
import { successFromProcessor } from './processors/success-from/factory.js';
import { transformProcessor } from './processors/transform/factory.js';
import { validationProcessor } from './processors/validation/factory.js';
import { otlpReceiver } from './receivers/otlp/factory.js';
import { traceBatchReceiver } from './receivers/trace-batch/factory.js';

/** An intake thread; `pipeline/intake/intake-pool.ts` starts it. */
if (parentPort === null) throw new Error('intake-thread.js runs as a worker thread only');
await serveIntake(parentPort, workerData as IntakeData, [
  traceBatchReceiver,
  otlpReceiver,
  validationProcessor,
  filterProcessor,
  sampleProcessor,
  transformProcessor,
  redactProcessor,
  resourceProcessor,
  successFromProcessor,
  quotaProcessor,
  costProcessor,
  serviceMapProcessor,
  storageExporter,
  alertsExporter,
]);

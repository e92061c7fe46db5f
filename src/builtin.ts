import type { Factory } from './component/factory.js';
import { alertsExporter } from './exporters/alerts/factory.js';
import { balanceExporter } from './exporters/balance/factory.js';
import { debugExporter } from './exporters/debug/factory.js';
import { evaluateExporter } from './exporters/evaluate/evaluate-exporter.js';
import { fileExporter } from './exporters/file/factory.js';
import { httpExporter } from './exporters/http/factory.js';
import { otlpHttpExporter } from './exporters/otlp-http/factory.js';
import { routeExporter } from './exporters/route/factory.js';
import { storageExporter } from './exporters/storage/factory.js';
import { webhookExporter } from './exporters/webhook/factory.js';
import { backupExtension } from './extensions/backup/factory.js';
import { clickHouseExtension } from './extensions/clickhouse/factory.js';
import { duckdbExtension } from './extensions/duckdb/factory.js';
import { healthExtension } from './extensions/health/factory.js';
import { mcpExtension } from './extensions/mcp/factory.js';
import { postgresExtension } from './extensions/postgres/factory.js';
import { queryExtension } from './extensions/query/factory.js';
import { sqliteExtension } from './extensions/sqlite/factory.js';
import { tapExtension } from './extensions/tap/factory.js';
import { uiExtension } from './extensions/ui/factory.js';
import { costProcessor } from './processors/cost/factory.js';
import { filterProcessor } from './processors/filter/factory.js';
import { quotaProcessor } from './processors/quota/factory.js';
import { rateLimitProcessor } from './processors/rate-limit/factory.js';
import { redactProcessor } from './processors/redact/factory.js';
import { sampleProcessor } from './processors/sample/factory.js';
import { serviceMapProcessor } from './processors/service-map/factory.js';
import { resourceProcessor } from './processors/resource/factory.js';
import { successFromProcessor } from './processors/success-from/factory.js';
import { transformProcessor } from './processors/transform/factory.js';
import { validationProcessor } from './processors/validation/factory.js';
import { otlpReceiver } from './receivers/otlp/factory.js';
import { outboxReceiver } from './receivers/outbox/factory.js';
import { scoresReceiver } from './receivers/scores/factory.js';
import { traceBatchReceiver } from './receivers/trace-batch/factory.js';

/** The factories that come with Jackdaw. */
export const builtinFactories: readonly Factory[] = [
  traceBatchReceiver,
  scoresReceiver,
  otlpReceiver,
  outboxReceiver,
  validationProcessor,
  filterProcessor,
  rateLimitProcessor,
  sampleProcessor,
  transformProcessor,
  resourceProcessor,
  redactProcessor,
  successFromProcessor,
  quotaProcessor,
  costProcessor,
  serviceMapProcessor,
  storageExporter,
  webhookExporter,
  alertsExporter,
  evaluateExporter,
  otlpHttpExporter,
  httpExporter,
  fileExporter,
  debugExporter,
  routeExporter,
  balanceExporter,
  duckdbExtension,
  clickHouseExtension,
  sqliteExtension,
  postgresExtension,
  queryExtension,
  uiExtension,
  mcpExtension,
  healthExtension,
  tapExtension,
  backupExtension,
];

import type { Route } from '../component/http.js';
import { agentStatsRoutes } from './resources/agent-stats.js';
import { agentRoutes } from './resources/agents.js';
import { alertEventRoutes } from './resources/alerts/alert-events.js';
import { alertFiringRoutes } from './resources/alerts/alert-firings.js';
import { alertPreviewRoutes } from './resources/alerts/alert-preview.js';
import { alertSecretRoutes } from './resources/alerts/alert-secret.js';
import { alertTestRoutes } from './resources/alerts/alert-test.js';
import { alertRoutes } from './resources/alerts/alerts.js';
import { auditRoutes } from './resources/audit.js';
import type { ApiContext } from './support/api-context.js';
import {
  hasParts,
  type TelemetryPart,
  type PartialTelemetryStore,
} from '../storage/contracts/telemetry-store.js';
import { daemonRoutes } from './resources/daemon.js';
import { backupRoutes } from './resources/backup.js';
import { exportRoutes } from './resources/export.js';
import { keyRoutes } from './resources/keys.js';
import { logFacetRoutes } from './resources/log-facets.js';
import { logRoutes } from './resources/logs.js';
import { meRoutes } from './resources/me.js';
import { metricSeriesRoutes } from './resources/metric-series.js';
import { metricRoutes } from './resources/metrics.js';
import { myKeyRoutes } from './resources/my-keys.js';
import { modelRoutes } from './resources/models.js';
import { sessionRoutes } from './resources/sessions.js';
import { organizationRoutes } from './resources/organizations.js';
import { priceRoutes } from './resources/prices.js';
import { promptLabelRoutes } from './resources/prompt-labels.js';
import { promptUsageRoutes } from './resources/prompt-usage.js';
import { promptRoutes } from './resources/prompts.js';
import { rejectionRoutes } from './resources/rejections.js';
import { serviceMapRebuildRoutes } from './resources/service-map-rebuild.js';
import { serviceMapRoutes } from './resources/service-map.js';
import { runListRoutes } from './resources/run-list.js';
import { runGroupRoutes } from './resources/run-groups.js';
import { runSeriesRoutes } from './resources/run-series.js';
import { toolDecisionRoutes } from './resources/tool-decisions.js';
import { servedPromptRoutes } from './resources/served-prompts.js';
import { scoreStatsRoutes } from './resources/score-stats.js';
import { searchAllRoutes, searchRoutes } from './resources/search.js';
import { searchSeriesRoutes } from './resources/search-series.js';
import { traceRoutes } from './resources/traces.js';
import { spanExplainRoutes } from './resources/span-explain.js';
import { traceSpanRoutes } from './resources/trace-spans.js';
import { streamRoutes } from './resources/stream/stream.js';
import { usageRoutes } from './resources/usage.js';
import { userRoutes } from './resources/users.js';
import { viewRoutes } from './resources/views.js';
import { organizationDeliveryRoutes } from './resources/webhooks/organization-deliveries.js';
import { webhookDeliveryRoutes } from './resources/webhooks/webhook-deliveries.js';
import { webhookEndpointRoutes } from './resources/webhooks/webhook-endpoints.js';
import { whatIfRoutes } from './resources/what-if.js';

/** The input of the routes; a telemetry store may implement only some of the contracts. */
export type OfferedContext = Omit<ApiContext, 'telemetry'> & { readonly telemetry: PartialTelemetryStore };

/** Routes that need some telemetry contracts; empty if the store does not implement all of them. */
function needing<Part extends TelemetryPart>(
  parts: readonly Part[],
  routes: (context: ApiContext<Part>) => readonly Route[],
): (context: OfferedContext) => readonly Route[] {
  return ({ telemetry, ...context }) => (hasParts(telemetry, parts) ? routes({ ...context, telemetry }) : []);
}

/** All routes that read or change stored data. */
export function apiRoutes(context: OfferedContext): readonly Route[] {
  return [
    needing(['agents', 'runs'], traceRoutes),
    needing(['runs', 'scores'], runListRoutes),
    needing(['runs'], searchRoutes),
    needing(['runs'], searchSeriesRoutes),
    needing(['agents', 'logs', 'models', 'runs'], searchAllRoutes),
    needing(['series'], runSeriesRoutes),
    needing(['groups'], runGroupRoutes),
    needing(['scores'], scoreStatsRoutes),
    needing(['runs'], traceSpanRoutes),
    needing(['runs'], spanExplainRoutes),
    needing(['agents', 'runs'], agentRoutes),
    needing(['agents'], agentStatsRoutes),
    needing(['models'], modelRoutes),
    needing(['models'], whatIfRoutes),
    needing(['models'], priceRoutes),
    needing(['runs', 'sessions'], sessionRoutes),
    needing(['logs'], toolDecisionRoutes),
    needing(['metrics'], metricRoutes),
    needing(['metrics'], metricSeriesRoutes),
    needing(['logs'], logRoutes),
    needing(['logs'], logFacetRoutes),
    needing(['arrivals', 'runs'], streamRoutes),
    needing(['map'], serviceMapRoutes),
    needing(['map'], serviceMapRebuildRoutes),
    promptRoutes,
    promptLabelRoutes,
    servedPromptRoutes,
    needing(['prompts', 'scores'], promptUsageRoutes),
    needing(['agents'], alertRoutes),
    alertFiringRoutes,
    needing(['stats', 'identity'], alertTestRoutes),
    needing(['agents', 'stats', 'identity', 'past'], alertPreviewRoutes),
    alertEventRoutes,
    alertSecretRoutes,
    meRoutes,
    myKeyRoutes,
    viewRoutes,
    needing(['identity', 'usage', 'stored'], usageRoutes),
    rejectionRoutes,
    daemonRoutes,
    userRoutes,
    keyRoutes,
    organizationRoutes,
    webhookEndpointRoutes,
    webhookDeliveryRoutes,
    organizationDeliveryRoutes,
    exportRoutes,
    backupRoutes,
    auditRoutes,
  ].flatMap((routes) => routes(context));
}

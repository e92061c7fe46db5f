import type { Route } from '../component/http.js';
import { agentStatsRoutes } from './agent-stats.js';
import { agentRoutes } from './agents.js';
import { alertEventRoutes } from './alert-events.js';
import { alertTestRoutes } from './alert-test.js';
import { alertRoutes } from './alerts.js';
import type { ApiContext } from './api-context.js';
import { keyRoutes } from './keys.js';
import { logRoutes } from './logs.js';
import { meRoutes } from './me.js';
import { metricRoutes } from './metrics.js';
import { modelRoutes } from './models.js';
import { organizationRoutes } from './organizations.js';
import { promptUsageRoutes } from './prompt-usage.js';
import { promptRoutes } from './prompts.js';
import { serviceMapRebuildRoutes } from './service-map-rebuild.js';
import { serviceMapRoutes } from './service-map.js';
import { traceRoutes } from './traces.js';
import { usageRoutes } from './usage.js';
import { userRoutes } from './users.js';
import { webhookDeliveryRoutes } from './webhook-deliveries.js';
import { webhookEndpointRoutes } from './webhook-endpoints.js';

/** Every route that reads or changes what the stores hold. */
export function apiRoutes(context: ApiContext): readonly Route[] {
  return [
    traceRoutes,
    agentRoutes,
    agentStatsRoutes,
    modelRoutes,
    metricRoutes,
    logRoutes,
    serviceMapRoutes,
    serviceMapRebuildRoutes,
    promptRoutes,
    promptUsageRoutes,
    alertRoutes,
    alertEventRoutes,
    alertTestRoutes,
    meRoutes,
    usageRoutes,
    userRoutes,
    keyRoutes,
    organizationRoutes,
    webhookEndpointRoutes,
    webhookDeliveryRoutes,
  ].flatMap((resource) => resource(context));
}

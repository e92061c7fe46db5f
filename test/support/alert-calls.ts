import { randomUUID } from 'node:crypto';
import type { ApiCaller, Call } from './api-caller.js';
import { anItem, type Changes, type Item } from './trace-batch.js';

/** An alert in API format. */
export interface AlertJson {
  readonly id: string;
  readonly agent_id: string | null;
  readonly agent_name: string | null;
  readonly type: string;
  readonly threshold: number;
  readonly cooldown_minutes: number;
  readonly is_active: boolean;
  readonly channel: string;
  readonly webhook_url: string | null;
  readonly composite_config: object | null;
  readonly target_service: string | null;
  readonly last_fired_at: string | null;
  readonly created_at: string;
}

/** For a daemon without alert evaluation: only the test fires alerts. */
export const UNWATCHED = { exporters: ['storage'] } as const;

/** A domain that never resolves, so nothing is sent. */
export const HOOK_URL = 'https://hook.example/path';

/** A run that just ended. */
export function aRecentRun(changes: Changes = {}, spans = 1): Item {
  const end = Date.now() - 1000;
  return anItem({
    trace: {
      started_at: new Date(end - 500).toISOString(),
      ended_at: new Date(end).toISOString(),
      ...changes,
    },
    spans,
  });
}

/** @returns the id of a new agent. */
export async function makeAgent(
  api: ApiCaller,
  name = `agent-${randomUUID()}`,
  key?: string,
): Promise<string> {
  await api.send([aRecentRun({ agent: name })], key);
  const agents = await api.get<readonly { readonly id: string; readonly name: string }[]>('/agents', key);
  const found = agents.find((agent) => agent.name === name);
  if (!found) throw new Error(`there is no agent ${name}`);
  return found.id;
}

/** @returns the new alert of a service, with minimal fields unless overridden. */
export async function makeAlert(api: ApiCaller, body: object = {}, call: Call = {}): Promise<AlertJson> {
  const target = 'agent_id' in body ? {} : { target_service: 'payments' };
  const json = { ...target, type: 'failure_rate', threshold: 0.5, ...body };
  const answer = await api.call('POST', '/alerts', { json, ...call });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer));
  return answer.body as AlertJson;
}

/** Consistent conditions. */
export const COMPOSITE = {
  operator: 'and',
  conditions: [
    { type: 'failure_rate', source: 'ai', threshold: 0.5 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'queue', operator: 'gte', value: 10 },
  ],
} as const;

import { explain } from '../batch-sender.js';
import { COSTLY_AGENT, PROMPTED_AGENT } from '../conditions.js';
import { parsed, type Poster } from '../poster.js';
import { REPLY_PROMPT, REPLY_VERSIONS } from './reply-prompt.js';

/** Nothing ever answers there (RFC 2606), as behind a receiver that somebody took down. */
const BROKEN = {
  name: 'Incident channel (nothing answers there)',
  url: 'https://incidents.example.invalid/jackdaw',
  event_types: ['alert.fired', 'alert.resolved', 'trace.failed'],
};
const ON_CALL = 'https://chat.example.invalid/hooks/on-call';

/** What somebody on call would like to be told. */
const ALERTS: readonly { readonly agent: string; readonly type: string; readonly threshold: number }[] = [
  { agent: COSTLY_AGENT, type: 'cost_threshold', threshold: 0.2 },
  { agent: PROMPTED_AGENT, type: 'failure_rate', threshold: 0.15 },
  { agent: 'code-reviewer', type: 'latency_threshold', threshold: 15_000 },
  { agent: 'content-moderator', type: 'inactivity', threshold: 6 },
];

/** What a part of the demo made, or why it did not. */
export interface Made {
  readonly what: string;
  readonly problem?: string;
}

/** The prompt of the demo with its versions; those that are there stay. @throws as {@link Poster.send} does */
export async function makePrompts(poster: Poster): Promise<Made> {
  const what = `the prompt ${REPLY_PROMPT} with ${String(REPLY_VERSIONS.length)} versions`;
  for (const [index, version] of REPLY_VERSIONS.entries()) {
    const body = { name: REPLY_PROMPT, version: index + 1, ...version };
    const problem = await create(poster, '/api/v1/dashboard/prompts/', body, 'make prompts', 'manage');
    if (problem !== undefined) return { what, problem };
  }
  return { what };
}

/** Alerts on agents that the daemon knows; one that an agent has already stays. @throws as {@link Poster.send} does */
export async function makeAlerts(poster: Poster): Promise<Made> {
  const what = `${String(ALERTS.length)} alerts`;
  const agents = await list(poster, '/api/v1/agents');
  const alerts = await list(poster, '/api/v1/alerts');
  for (const { agent, type, threshold } of ALERTS) {
    const id = agents.find(({ name }) => name === agent)?.['id'];
    if (id === undefined || alerts.some((known) => known['agent_id'] === id && known['type'] === type))
      continue;
    const body = { agent_id: id, type, threshold, channel: 'webhook', webhook_url: ON_CALL };
    const problem = await create(poster, '/api/v1/alerts', body, 'make alerts', 'manage');
    if (problem !== undefined) return { what, problem };
  }
  return { what };
}

/** An endpoint for webhooks that is broken, so that one sees what then happens. @throws as {@link Poster.send} does */
export async function makeWebhooks(poster: Poster): Promise<Made> {
  const what = 'a webhook that is broken';
  const slug = await ownOrganization(poster);
  if (slug === undefined)
    return { what, problem: 'the user of the API key is no administrator of an organization' };
  const path = `/api/v1/org/${encodeURIComponent(slug)}/webhooks/endpoints`;
  if ((await list(poster, path)).some(({ url }) => url === BROKEN.url)) return { what };
  const problem = await create(poster, path, BROKEN, 'make webhooks', 'manage');
  return { what, ...(problem !== undefined && { problem }) };
}

/** The organization to whose endpoints the user's runs are told, and where the user may make some. */
async function ownOrganization(poster: Poster): Promise<string | undefined> {
  const me = parsed((await poster.send({ method: 'GET', path: '/api/v1/me' })).text) as
    { readonly memberships?: readonly { readonly slug: string; readonly role: string }[] } | undefined;
  return me?.memberships?.find(({ role }) => role === 'admin')?.slug;
}

/** @returns why it is not there now; what was there before is fine */
async function create(
  poster: Poster,
  path: string,
  body: object,
  action: string,
  scope: string,
): Promise<string | undefined> {
  const answer = await poster.send({ method: 'POST', path, body });
  return answer.ok || answer.status === 409 ? undefined : explain(poster, answer, action, scope);
}

async function list(poster: Poster, path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { ok, text } = await poster.send({ method: 'GET', path });
  const found = ok ? parsed(text) : [];
  return Array.isArray(found) ? (found as Readonly<Record<string, unknown>>[]) : [];
}

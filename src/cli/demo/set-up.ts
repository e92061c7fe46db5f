import type { CliIo } from '../io.js';
import type { BatchBody } from './body.js';
import { explain, parsed, type Poster } from './poster.js';
import type { Recording } from './recording.js';

/** Nothing responds at this address (RFC 2606), as if the receiver had been removed. */
const BROKEN = {
  name: 'Incident channel (nothing answers there)',
  url: 'https://incidents.example.invalid/jackdaw',
  event_types: ['alert.fired', 'alert.resolved', 'trace.failed'],
};
const ON_CALL = 'https://chat.example.invalid/hooks/on-call';

const ALERTS: readonly { readonly agent: string; readonly type: string; readonly threshold: number }[] = [
  { agent: 'research-assistant', type: 'cost_threshold', threshold: 0.2 },
  { agent: 'support-triage', type: 'failure_rate', threshold: 0.15 },
  { agent: 'code-reviewer', type: 'latency_threshold', threshold: 15_000 },
  { agent: 'content-moderator', type: 'inactivity', threshold: 6 },
];

/**
 * Creates one part of the demo; existing objects remain.
 *
 * @returns the reason of a failure; undefined if it succeeded
 */
type Maker = (poster: Poster, prompt: Recording['prompt']) => Promise<string | undefined>;

/** Objects created before the runs are sent, and objects created once the daemon has the agents. */
const MAKERS: Readonly<Record<'before' | 'after', Readonly<Record<string, Maker>>>> = {
  before: { 'the prompt support-reply with 3 versions': makePrompt },
  after: { 'a webhook that is broken': makeWebhook, '4 alerts': makeAlerts },
};

/**
 * Creates a prompt, a webhook and alerts. Warns about each that the key may not create, and continues.
 *
 * @returns a list of the existing objects, for the user
 * @throws like {@link Poster.send}
 */
export async function setUp(
  poster: Poster,
  io: Pick<CliIo, 'err'>,
  prompt: Recording['prompt'],
  when: keyof typeof MAKERS,
): Promise<string[]> {
  const made: string[] = [];
  for (const [what, make] of Object.entries(MAKERS[when])) {
    const problem = await make(poster, prompt);
    if (problem === undefined) made.push(what);
    else io.err(`Without ${what}: ${problem}`);
  }
  return made;
}

/**
 * Reports which version of the prompt each run used.
 *
 * @throws like {@link Poster.send}
 */
export async function linkPrompts(
  poster: Poster,
  { traces }: BatchBody,
  prompt: Recording['prompt'],
): Promise<void> {
  for (const { trace, spans } of traces) {
    const version = trace.metadata?.['prompt_version'];
    const span = spans.find(({ name, output_tokens }) => name === prompt.span && output_tokens !== undefined);
    if (version === undefined || span === undefined) continue;
    const body = {
      prompt_name: prompt.name,
      prompt_version: version,
      trace_id: trace.trace_id,
      span_id: span.span_id,
    };
    // If the key may not do this, it also could not create the prompt, and the user was warned.
    await poster.send({ method: 'POST', path: '/api/v1/dashboard/prompts/usage', body });
  }
}

async function makePrompt(
  poster: Poster,
  { name, versions }: Recording['prompt'],
): Promise<string | undefined> {
  for (const [index, version] of versions.entries()) {
    const body = { name, version: index + 1, ...version };
    const problem = await create(poster, '/api/v1/dashboard/prompts/', body, 'make prompts');
    if (problem !== undefined) return problem;
  }
  const path = `/api/v1/dashboard/prompts/${encodeURIComponent(name)}/labels/production`;
  const answer = await poster.send({ method: 'PUT', path, body: { version: versions.length } });
  return answer.ok ? undefined : explain(poster, answer, 'label prompts', 'manage');
}

async function makeAlerts(poster: Poster): Promise<string | undefined> {
  const answer = await poster.send({ method: 'GET', path: '/api/v1/agents' });
  if (!answer.ok) return explain(poster, answer, 'read agents', 'read');
  const agents = recordsIn(answer.text);
  const alerts = await list(poster, '/api/v1/alerts');
  for (const { agent, type, threshold } of ALERTS) {
    const id = agents.find(({ name }) => name === agent)?.['id'];
    if (id === undefined || alerts.some((known) => known['agent_id'] === id && known['type'] === type))
      continue;
    const body = { agent_id: id, type, threshold, channel: 'webhook', webhook_url: ON_CALL };
    const problem = await create(poster, '/api/v1/alerts', body, 'make alerts');
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Creates an endpoint in the first organization that the user administers; it receives the events of the user's runs. */
async function makeWebhook(poster: Poster): Promise<string | undefined> {
  const me = parsed((await poster.send({ method: 'GET', path: '/api/v1/me' })).text) as
    { readonly memberships?: readonly { readonly slug: string; readonly role: string }[] } | undefined;
  const slug = me?.memberships?.find(({ role }) => role === 'admin')?.slug;
  if (slug === undefined) return 'the user of the API key is not an administrator of any organization';
  const path = `/api/v1/org/${encodeURIComponent(slug)}/webhooks/endpoints`;
  if ((await list(poster, path)).some(({ url }) => url === BROKEN.url)) return undefined;
  return create(poster, path, BROKEN, 'make webhooks');
}

/** A metric that every daemon has about itself. */
const OWN_METRIC = 'jackdaw_http_requests_total';

/** How to see the daemon's own telemetry, one line for the user. */
export async function aboutOwnTelemetry(poster: Poster): Promise<string> {
  const metrics = await list(poster, '/api/v1/dashboard/metrics/');
  if (metrics.some(({ name }) => name === OWN_METRIC))
    return `The daemon shows itself, too: its requests are at ${poster.url}/runs?kind=other, its metrics and log next to the others.`;
  const users = await list(poster, '/api/v1/admin/users');
  if (users.some(({ email }) => email === 'jackdaw@localhost'))
    return 'The daemon’s own requests, metrics and log belong to the user jackdaw@localhost: "jackdaw keys create --user jackdaw@localhost --name look --scopes read" prints a key for them.';
  const { text } = await poster.send({ method: 'GET', path: '/api/v1/me' });
  const { email } = (parsed(text) ?? {}) as { readonly email?: unknown };
  const user = typeof email === 'string' ? email : 'admin@localhost';
  return `To see the daemon’s own requests, metrics and log there, run it with "--set service.telemetry.otlp.endpoint=self --set service.telemetry.otlp.user=${user}".`;
}

/**
 * Creates an object, or accepts an existing one.
 *
 * @returns the reason of a failure
 */
async function create(
  poster: Poster,
  path: string,
  body: object,
  action: string,
): Promise<string | undefined> {
  const answer = await poster.send({ method: 'POST', path, body });
  return answer.ok || answer.status === 409 ? undefined : explain(poster, answer, action, 'manage');
}

async function list(poster: Poster, path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { ok, text } = await poster.send({ method: 'GET', path });
  return ok ? recordsIn(text) : [];
}

function recordsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const found = parsed(text);
  return Array.isArray(found) ? (found as Readonly<Record<string, unknown>>[]) : [];
}

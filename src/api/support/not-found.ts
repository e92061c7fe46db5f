import { HttpProblem } from '../../component/http.js';

/** Kinds of objects, each with the route that lists them and the command that does. */
export const LISTED_BY = {
  agent: { path: '/api/v1/agents', command: null },
  alert: { path: '/api/v1/alerts', command: 'jackdaw alerts list' },
  'API key': { path: '/api/v1/me/keys', command: 'jackdaw keys list' },
  'browser session': { path: '/api/v1/me/sessions', command: null },
  'log record with a trace': { path: '/api/v1/dashboard/logs/search', command: 'jackdaw logs' },
  member: { path: '/api/v1/admin/orgs/{slug}/members', command: 'jackdaw orgs members list SLUG' },
  metric: { path: '/api/v1/dashboard/metrics/', command: 'jackdaw metrics' },
  organization: { path: '/api/v1/me', command: 'jackdaw orgs list' },
  prompt: { path: '/api/v1/dashboard/prompts/names', command: 'jackdaw prompts' },
  'prompt label': { path: '/api/v1/dashboard/prompts/{name}/labels', command: null },
  'prompt version': { path: '/api/v1/dashboard/prompts/{name}/versions', command: 'jackdaw prompts NAME' },
  session: { path: '/api/v1/dashboard/sessions', command: null },
  span: { path: '/api/v1/dashboard/traces/{trace_id}/spans', command: 'jackdaw runs ID' },
  trace: { path: '/api/v1/dashboard/traces', command: 'jackdaw runs' },
  user: { path: '/api/v1/admin/users', command: 'jackdaw users list' },
  view: { path: '/api/v1/dashboard/views', command: null },
  'webhook delivery': { path: '/api/v1/org/{org_slug}/webhooks/deliveries', command: null },
  'webhook endpoint': { path: '/api/v1/org/{org_slug}/webhooks/endpoints', command: null },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly command: string | null }>>;
type Kind = keyof typeof LISTED_BY;

/** 404: an object that is missing or belongs to another user. */
export class NotFound extends HttpProblem {
  readonly kind: Kind;

  constructor(kind: Kind) {
    const { path, command } = LISTED_BY[kind];
    const ways = [`GET ${path}`, ...(command === null ? [] : [`"${command}"`])];
    super(404, 'not_found', `There is no such ${kind}: list them with ${ways.join(' or ')}.`);
    this.kind = kind;
  }
}

/** The same response for missing objects and for objects of other users. */
export function notFound(kind: Kind): HttpProblem {
  return new NotFound(kind);
}

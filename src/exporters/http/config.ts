import { Type, type Static } from 'typebox';
import { checkClientTls, clientTlsFields } from '../../config/client-tls.js';
import { partsOfText } from '../../config/holes.js';
import { checkHeaders, headersSection } from '../../config/request-headers.js';
import { choice, secret, section, size, template } from '../../config/schema.js';
import { sizeBytes } from '../../config/size.js';
import { deliveryKeys } from '../../delivery/queue/config.js';
import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { checkAttemptTimes, connectTimeoutKey } from '../../delivery/senders/webhook/attempt-times.js';
import { checkTarget } from '../../delivery/senders/webhook/check-target.js';
import { checkTargets, targetsSection } from '../../delivery/senders/webhook/targets.js';
import { templateProblems } from '../../expressions/json-template.js';
import type { ScopeName } from '../../expressions/scope/scopes.js';

/** The item of a request or of a part of it, and the signal of the exporter's pipelines. */
export const ITEMS = { event: 'events', trace: 'traces', span: 'traces', log: 'logs' } as const;
export type ItemName = keyof typeof ITEMS;

export const httpConfig = section({
  url: Type.Optional(
    secret({
      pattern: '^https?://',
      patternErrorMessage: 'must be an http or https URL',
      hasExpressions: true,
      description: 'URL of requests; the path and query may contain expressions. It is never shown.',
    }),
  ),
  method: choice(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], {
    default: 'POST',
    description: 'HTTP method. GET and DELETE requests have no body.',
  }),
  headers: headersSection('Headers of every request. Values may contain expressions.', {
    hasExpressions: true,
  }),
  item: choice(['event', 'trace', 'span', 'log'], {
    default: 'event',
    description: 'Kind of item that bodies contain. It decides which pipelines can use the exporter.',
  }),
  body: Type.Optional(
    template({
      description:
        'Body for one item; may contain expressions in ${{ }}. Default: the item with all its fields.',
    }),
  ),
  format: choice(['json', 'json_array', 'ndjson'], {
    default: 'json',
    description: 'Request format: json (one item), json_array or ndjson (a batch as a list or as lines).',
  }),
  envelope: Type.Optional(
    template({
      description:
        'Body sent instead of the plain list with format json_array; expressions read the list as items.',
    }),
  ),
  on_error: choice(['keep', 'drop'], {
    default: 'keep',
    description: 'Handling of failing body expressions: keep (sends null instead) or drop (drops the item).',
  }),
  compression: choice(['none', 'gzip'], { default: 'none', description: 'Compression of request bodies.' }),
  max_request_size: size({
    default: '1MiB',
    description: 'Maximum body size before compression. Larger batches are split; larger items are dropped.',
  }),
  targets: targetsSection,
  tls: Type.Optional(
    section(clientTlsFields, {
      description: 'TLS settings for https URLs, in addition to targets.ca_file.',
      isOptional: true,
    }),
  ),
  connect_timeout: connectTimeoutKey,
  ...deliveryKeys({ timeout: '15s', batchWait: '1s' }),
});

export type HttpConfig = Static<typeof httpConfig>;

interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

/** The scope of expressions in the URL and headers: the item, or all items of a request. */
export function requestScope({ format, item }: Pick<HttpConfig, 'format' | 'item'>): ScopeName {
  return format === 'json' ? item : 'items';
}

export function hasBody({ method }: Pick<HttpConfig, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** Checks rules that the schema cannot express. Errors never contain the URL or header values. */
export function checkHttp(config: HttpConfig): readonly ConfigProblem[] {
  const { url = '', headers, item, body, envelope, format, targets, tls } = config;
  const problems: ConfigProblem[] = [...checkTargets(targets)];
  const add = (path: string, message: string) => problems.push({ path, message });
  const scope = requestScope(config);
  if (url === '') add('/url', 'is missing: set a URL such as https://hooks.example.com/jackdaw');
  else if (problems.length === 0) {
    const wrong = urlProblem(url, new AddressPolicy(targets.allow_cidrs));
    if (wrong !== null) add('/url', wrong);
  }
  problems.push(...templateProblems('/url', url, scope));
  problems.push(...templateProblems('/headers', headers, scope));
  problems.push(...checkHeaders(withoutHoles(headers)));
  if (body !== undefined) problems.push(...templateProblems('/body', body, item));
  if (envelope !== undefined) problems.push(...templateProblems('/envelope', envelope, 'items'));
  if (envelope !== undefined && format !== 'json_array')
    add('/envelope', 'requires format: json_array; move its content to body');
  if (!hasBody(config))
    for (const key of ['body', 'envelope'] as const)
      if (config[key] !== undefined) add(`/${key}`, `requests of ${config.method} have no body`);
  if (!hasBody(config) && format !== 'json') add('/format', `requests of ${config.method} have no body`);
  if (sizeBytes(config.max_request_size) === 0)
    add('/max_request_size', 'must be greater than 0, or nothing is sent');
  return [...problems, ...checkAttemptTimes(config), ...checkClientTls(tls)];
}

function urlProblem(url: string, policy: AddressPolicy): string | null {
  const host = /^https?:\/\/[^/?#]*/.exec(url)?.[0] ?? '';
  if (host.includes('${{'))
    return 'must not have an expression in its host; move the expression to the path or query';
  const problem = checkTarget(filled(url), policy, { allowsPlain: true });
  // Same text as checkTarget() if only the address is wrong.
  return problem?.endsWith('is not allowed') === true
    ? `${problem}; add its network to targets.allow_cidrs to allow it`
    : problem;
}

/** With a letter in place of each expression. */
function filled(text: string): string {
  return partsOfText(text)
    .map(({ isHole, start, end }) => (isHole ? 'x' : text.slice(start, end)))
    .join('');
}

function withoutHoles(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)]));
}

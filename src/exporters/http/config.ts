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

/** What a request or a part of it is made of, and the signal in whose pipelines the exporter then stands. */
export const ITEMS = { event: 'events', trace: 'traces', span: 'traces', log: 'logs' } as const;
export type ItemName = keyof typeof ITEMS;

export const httpConfig = section({
  url: Type.Optional(
    secret({
      pattern: '^https?://',
      patternErrorMessage: 'must be an http or https URL',
      hasExpressions: true,
      description:
        'Where requests go. Behind the host there may be expressions. It is never shown, as it may hold a key.',
    }),
  ),
  method: choice(['POST', 'PUT', 'PATCH', 'GET', 'DELETE'], {
    default: 'POST',
    description: 'The method of requests. Those of GET and DELETE have no body.',
  }),
  headers: headersSection('Headers of every request. There may be expressions in the values.', {
    hasExpressions: true,
  }),
  item: choice(['event', 'trace', 'span', 'log'], {
    default: 'event',
    description: 'What a body is made of. It says which pipelines the exporter can be in.',
  }),
  body: Type.Optional(
    template({
      description:
        'The body for one item, with expressions in ${{ }} that read the item, its resource and identity. Absent: the item with all its fields.',
    }),
  ),
  format: choice(['json', 'json_array', 'ndjson'], {
    default: 'json',
    description:
      'json: a request an item. json_array and ndjson: a request a batch, a list of bodies or a line for each.',
  }),
  envelope: Type.Optional(
    template({ description: 'With json_array: what is sent instead of the list, which it reads as items.' }),
  ),
  on_error: choice(['keep', 'drop'], {
    default: 'keep',
    description:
      'What becomes of an item for which an expression of the body fails: keep sends null in its place, drop drops the item.',
  }),
  compression: choice(['none', 'gzip'], { default: 'none', description: 'How bodies are compressed.' }),
  max_request_size: size({
    default: '1MiB',
    description:
      'Largest body, before compression. A batch that gives a larger one is sent in parts; an item that does is dropped.',
  }),
  targets: targetsSection,
  tls: Type.Optional(
    section(clientTlsFields, {
      description: 'For https URLs, beside targets.ca_file.',
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

/** What the expressions of the URL and of headers read: the item, or all those of a request. */
export function requestScope({ format, item }: Pick<HttpConfig, 'format' | 'item'>): ScopeName {
  return format === 'json' ? item : 'items';
}

export function hasBody({ method }: Pick<HttpConfig, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** Checks what the schema cannot express. The URL and values of headers are never repeated. */
export function checkHttp(config: HttpConfig): readonly ConfigProblem[] {
  const { url = '', headers, item, body, envelope, format, targets, tls } = config;
  const problems: ConfigProblem[] = [...checkTargets(targets)];
  const add = (path: string, message: string) => problems.push({ path, message });
  const scope = requestScope(config);
  if (url === '') add('/url', 'is missing: write where to send, such as https://hooks.example.com/jackdaw');
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
    add('/envelope', 'is only for format: json_array; write what it holds into body');
  if (!hasBody(config))
    for (const key of ['body', 'envelope'] as const)
      if (config[key] !== undefined) add(`/${key}`, `requests of ${config.method} have no body`);
  if (!hasBody(config) && format !== 'json') add('/format', `requests of ${config.method} have no body`);
  if (sizeBytes(config.max_request_size) === 0)
    add('/max_request_size', 'must be more than 0: nothing would be sent');
  return [...problems, ...checkAttemptTimes(config), ...checkClientTls(tls)];
}

function urlProblem(url: string, policy: AddressPolicy): string | null {
  const host = /^https?:\/\/[^/?#]*/.exec(url)?.[0] ?? '';
  if (host.includes('${{'))
    return 'must have no expression in its host: what comes in must not say where it goes';
  const problem = checkTarget(filled(url), policy, { allowsPlain: true });
  // As checkTarget() words it where nothing but the address is wrong.
  return problem?.endsWith('is not allowed') === true
    ? `${problem}; list its network in targets.allow_cidrs where that is meant`
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

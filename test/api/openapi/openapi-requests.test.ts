import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { asParameter, asSent } from '../../../src/api/openapi/openapi-requests.js';
import { OpenApiSchemas } from '../../../src/api/openapi/openapi-schemas.js';
import { SpanSchema, TraceHeaderSchema } from '../../../src/receivers/trace-batch/wire-format.js';
import { isUuid } from '../../../src/signal/ids.js';
import { MONEY_PATTERN } from '../../../src/signal/money.js';
import { parseTime } from '../../../src/signal/time.js';
import { startApi } from '../../support/api.js';
import type { OpenApiDocument } from '../../support/documented-api.js';
import { holds } from '../../support/property.js';

/** Paths that clients know with a trailing slash. */
const WITH_SLASH = ['/dashboard/prompts/', '/dashboard/service-map/', '/dashboard/metrics/'];
const MISSING = '01890000-0000-7000-8000-000000000000';

void t.test('the documented time pattern matches accepted times, except at the range limits', async (t) => {
  const { pattern } = asParameter({ type: 'string', format: 'date-time' });
  const expression = new RegExp(String(pattern), 'u');
  const digits = (most: number, width: number) =>
    fc.nat(most).map((value) => String(value).padStart(width, '0'));
  holds(
    t,
    fc.property(
      fc.tuple(
        fc.integer({ min: 1600, max: 2300 }).filter((year) => year !== 1684 && year !== 2255),
        digits(13, 2),
        digits(32, 2),
        fc.constantFrom('T', 't', ' ', '_'),
        digits(24, 2),
        digits(60, 2),
        fc.constantFrom('', ':00', ':59', ':60', ':00.5', ':00,123456789', ':00.', ':00.1234567890'),
        fc.constantFrom('', 'Z', 'z', '+01:00', '-2359', '+05', '+24:00', '+01:60', ' '),
      ),
      ([year, month, day, separator, hour, minute, rest, offset]) => {
        const text = `${year}-${month}-${day}${separator}${hour}:${minute}${rest}${offset}`;
        return expression.test(text) === (parseTime(text) !== undefined);
      },
    ),
    { numRuns: 5000 },
  );
});

void t.test('null is allowed for optional fields at any depth, and parameters are clamped', async (t) => {
  const inner = {
    type: 'object',
    title: 'Inner',
    required: ['a'],
    properties: { a: {}, b: { enum: ['x'] } },
  };
  const body = {
    type: 'object',
    title: 'Outer',
    required: ['list', 'preset'],
    properties: { list: { type: 'array', items: inner }, preset: { type: 'number', default: 1 } },
  };
  t.match(asSent(body), {
    title: 'Outer',
    properties: {
      list: {
        type: 'array',
        items: { title: 'InnerInput', properties: { a: {}, b: { enum: ['x', null] } } },
      },
      preset: { type: ['number', 'null'] },
    },
  });
  t.strictSame(asParameter({ type: 'integer', minimum: 1, maximum: 100, default: 20 }), {
    type: 'number',
    default: 20,
    description: 'A number: less is 1, more is 100, fractions are cut.',
  });
});

void t.test('component names are unique and all specified paths exist', async (t) => {
  const api = await startApi(t);
  const document = await api.get<OpenApiDocument>('/openapi.json');
  for (const path of WITH_SLASH) t.ok(`/api/v1${path}` in document.paths, path);
  const schemas = Object.entries(document.components.schemas);
  const plain = (name: string) => name.replaceAll('_', '').toLowerCase();
  const fields = new Set(schemas.flatMap(([, { properties }]) => Object.keys(properties ?? {}).map(plain)));
  t.strictSame(
    schemas.map(([name]) => name).filter((name) => fields.has(plain(name))),
    [],
    'no schema is named like a field',
  );
  t.match(document.paths['/api/v1/otlp/v1/traces']?.['post'], {
    requestBody: { content: { 'application/x-protobuf': { schema: { format: 'binary' } } } },
  });
});

void t.test('money fields have the pattern of the parser', async (t) => {
  const schemas = new OpenApiSchemas();
  schemas.print(TraceHeaderSchema);
  schemas.print(SpanSchema);
  t.match(schemas.components, {
    NewTrace: {
      properties: { total_cost_usd: { type: ['string', 'number', 'null'], pattern: MONEY_PATTERN } },
    },
    NewSpan: { properties: { cost_usd: { pattern: MONEY_PATTERN, format: undefined } } },
  });
});

void t.test('the documented schema of new alerts is enforced', async (t) => {
  const api = await startApi(t);
  const document = await api.get<OpenApiDocument>('/openapi.json');
  const ajv = new Ajv2020({ strict: false });
  ajv.addFormat('uuid', isUuid);
  const validate = ajv.addSchema(document, 'doc').getSchema('doc#/components/schemas/NewAlert');
  const simple = { agent_id: MISSING, type: 'failure_rate', threshold: 0.5 };
  const infra = { type: 'metric_threshold', source: 'infra', metric_name: 'm', operator: 'gt', value: 1 };
  const ai = { type: 'inactivity', source: 'ai', threshold: 1 };
  const composite = { agent_id: MISSING, type: 'composite' };
  const bodies: readonly object[] = [
    simple,
    { ...simple, target_service: null, channel: null, webhook_url: null, composite_config: null },
    { ...simple, target_service: 'x' },
    { ...simple, agent_id: null },
    { ...simple, agent_id: null, target_service: ' ' },
    { ...simple, threshold: 1.5 },
    { ...simple, threshold: -1 },
    { ...simple, threshold: null },
    { ...simple, type: 'inactivity', threshold: 1000 },
    { ...simple, channel: 'webhook' },
    { ...simple, channel: 'both', webhook_url: 'https://hooks.example.com/x' },
    { ...simple, webhook_url: 'http://hooks.example.com/x' },
    { ...simple, composite_config: { operator: 'and', conditions: [ai, infra] } },
    composite,
    { ...composite, composite_config: { operator: 'and', conditions: [ai, infra] } },
    { ...composite, composite_config: { operator: 'and', conditions: [{ ...ai, value: null }, infra] } },
    { ...composite, composite_config: { operator: 'and', conditions: [ai, ai] } },
    { ...composite, composite_config: { operator: 'and', conditions: [infra, infra] } },
    { ...composite, composite_config: { operator: 'and', conditions: [{ ...ai, value: 1 }, infra] } },
    { ...composite, composite_config: { operator: 'and', conditions: [ai, { ...infra, source: 'ai' }] } },
    { ...composite, composite_config: { operator: 'and', conditions: [ai, { ...infra, value: null }] } },
  ];
  for (const json of bodies) {
    const { status } = await api.call('POST', '/alerts', { json });
    // The agent does not exist, so valid bodies get 404.
    t.equal(status, validate?.(json) === true ? 404 : 422, JSON.stringify(json));
  }
});

import fc from 'fast-check';
import t from 'tap';
import type { JsonObject, JsonValue } from '../../src/signal/attributes.js';
import { AGENT, nodeName, nodeSource, serviceNodeOf, type NamedSpan } from '../../src/signal/service-node.js';
import { SPAN_TYPES, type SpanType } from '../../src/signal/span.js';
import { anyCharacter } from '../support/any-character.js';
import { aSpanRecord } from '../support/run-records.js';
import { holds } from '../support/property.js';

interface Case {
  readonly what: string;
  readonly type: SpanType;
  readonly name?: string;
  readonly input?: JsonObject;
  readonly metadata?: JsonObject;
  readonly hint?: string;
  readonly node: string | typeof AGENT | null;
}

const LONG = 'ä'.repeat(2000);
const FEATHERS = '🪶'.repeat(1500);

const CASES: readonly Case[] = [
  { what: 'a model call', type: 'llm', metadata: { 'peer.service': 'openai' }, node: null },
  { what: 'a tool', type: 'tool', metadata: { 'gen_ai.agent.name': 'no' }, node: null },

  { what: 'an agent', type: 'agent', node: AGENT },
  { what: 'its name', type: 'agent', metadata: { 'agent.name': 'planner' }, node: 'planner' },
  {
    what: 'the GenAI name before others',
    type: 'agent',
    metadata: { 'agent.name': 'b', 'gen_ai.agent.name': 'a' },
    node: 'a',
  },
  {
    what: 'a blank name is none',
    type: 'agent',
    metadata: { 'gen_ai.agent.name': ' \t\n', 'agent.name': 'b' },
    node: 'b',
  },
  {
    what: 'what is no text is no name',
    type: 'agent',
    metadata: { 'gen_ai.agent.name': 7, 'agent.name': ['x'] },
    node: AGENT,
  },

  { what: 'http without anything', type: 'http', name: 'GET', node: 'GET' },
  {
    what: 'the peer before all',
    type: 'http',
    input: { url: 'http://u' },
    metadata: {
      'service.peer.name': 'a',
      'peer.service': 'b',
      'server.address': 'c',
      'url.full': 'http://d',
      'http.url': 'http://e',
    },
    node: 'a',
  },
  {
    what: 'the old peer',
    type: 'http',
    metadata: { 'service.peer.name': null, 'peer.service': 'b', 'server.address': 'c' },
    node: 'b',
  },
  {
    what: 'the host of the address in lower case',
    type: 'http',
    input: { url: 'http://u' },
    metadata: { 'server.address': 'API.Example:80', 'url.full': 'http://d' },
    node: 'api.example',
  },
  {
    what: 'the host of the input before those of attributes',
    type: 'http',
    input: { url: 'https://API.example.com:8443/v1?q#f' },
    metadata: { 'url.full': 'http://d', 'http.url': 'http://e' },
    node: 'api.example.com',
  },
  {
    what: 'the full URL before the old one',
    type: 'http',
    input: { url: '' },
    metadata: { 'url.full': 'http://d', 'http.url': 'http://e' },
    node: 'd',
  },
  {
    what: 'a URL without a host is passed over',
    type: 'http',
    input: { url: '/v1/chat' },
    metadata: { 'url.full': 'not a url', 'http.url': 'http://e/' },
    node: 'e',
  },
  {
    what: 'no URL has a host',
    type: 'http',
    name: 'POST /v1/chat',
    input: { url: '/v1/chat' },
    metadata: { 'http.url': 'http://' },
    node: 'POST /v1/chat',
  },
  {
    what: 'a URL that is no text',
    type: 'http',
    name: 'call',
    input: { url: { href: 'http://x' } },
    node: 'call',
  },
  {
    what: 'a URL longer than any host',
    type: 'http',
    input: { url: `http://host/${'x'.repeat(100_000)}` },
    node: 'host',
  },

  { what: 'db without anything', type: 'db', name: 'SELECT', node: 'SELECT' },
  {
    what: 'the peer of a database',
    type: 'db',
    metadata: { 'peer.service': 'orders-db', 'db.system': 'mysql', 'db.name': 'orders' },
    node: 'orders-db',
  },
  {
    what: 'an address is no name of a database',
    type: 'db',
    metadata: { 'server.address': '10.0.0.1', 'db.system': 'mysql' },
    node: 'mysql',
  },
  {
    what: 'system and namespace, the new names first',
    type: 'db',
    metadata: {
      'db.system.name': 'postgresql',
      'db.system': 'b',
      'db.namespace': 'shop',
      'db.name': 'd',
    },
    node: 'postgresql/shop',
  },
  {
    what: 'system and name of old',
    type: 'db',
    metadata: { 'db.system': ' postgresql ', 'db.name': ' shop ' },
    node: 'postgresql/shop',
  },
  {
    what: 'a name without a system is none',
    type: 'db',
    input: { system: 'redis' },
    metadata: { 'db.name': 'shop' },
    node: 'redis',
  },
  { what: 'a system that is no text', type: 'db', name: 'get', input: { system: 5 }, node: 'get' },

  {
    what: 'custom',
    type: 'custom',
    name: 'rerank',
    metadata: { 'peer.service': 'x', 'agent.name': 'y' },
    input: { url: 'http://z' },
    node: 'rerank',
  },
  { what: 'spaces around a name', type: 'custom', name: '  rerank\u00a0\n', node: 'rerank' },
  { what: 'a name of spaces: no node', type: 'custom', name: ' \n ', node: null },
  { what: 'an empty name and no host: no node', type: 'http', name: '', input: { url: '/' }, node: null },
  { what: 'a long name', type: 'custom', name: LONG, node: 'ä'.repeat(1024) },
  { what: 'a long name of wide characters', type: 'custom', name: FEATHERS, node: '🪶'.repeat(1024) },
  {
    what: 'a long attribute, cut between characters',
    type: 'http',
    metadata: { 'peer.service': `a${FEATHERS}` },
    node: `a${'🪶'.repeat(1023)}`,
  },
  {
    what: 'a space where it is cut',
    type: 'custom',
    name: `${'x'.repeat(1023)} y`,
    node: 'x'.repeat(1023),
  },
  { what: 'control characters stay', type: 'custom', name: 'a\u0001b\nc\u007f', node: 'a\u0001b\nc\u007f' },
  { what: 'but U+0000 does not', type: 'custom', name: 'a\0b', node: 'a\ufffdb' },
  {
    what: 'half a character',
    type: 'db',
    metadata: { 'db.system': '\ud83e', 'db.name': '\udeb6' },
    node: '\ufffd/\ufffd',
  },
  {
    what: 'names of the prototype',
    type: 'custom',
    name: '__proto__',
    node: '__proto__',
  },

  { what: 'a short number in a name stays', type: 'custom', name: 'Step 12', node: 'Step 12' },
  { what: 'a number in a name', type: 'custom', name: 'Step 1234', node: 'Step <n>' },
  {
    what: 'a number in the name of a request',
    type: 'http',
    name: 'GET /users/1745',
    node: 'GET /users/<n>',
  },
  { what: 'a number in the name of a query', type: 'db', name: 'get user_1745', node: 'get user_<n>' },
  {
    what: 'an id in a declared name',
    type: 'http',
    metadata: { 'peer.service': 'orders-BD8E5FBE-ad60-4167-80ed-e434c84a0073' },
    node: 'orders-<id>',
  },
  {
    what: 'a number in a declared name stays',
    type: 'http',
    metadata: { 'peer.service': 'orders-2' },
    node: 'orders-2',
  },
  {
    what: 'a long number in a declared name',
    type: 'http',
    metadata: { 'peer.service': 'orders-20261' },
    node: 'orders-<n>',
  },
  { what: 'a host in brackets', type: 'http', metadata: { 'server.address': '[::1]' }, node: '::1' },
  {
    what: 'the full name of a host',
    type: 'http',
    metadata: { 'server.address': 'API.example.' },
    node: 'api.example',
  },
  { what: 'an address stays', type: 'http', metadata: { 'server.address': '10.0.0.1' }, node: '10.0.0.1' },
  {
    what: 'an id in a host',
    type: 'http',
    input: { url: 'https://bd8e5fbe-ad60-4167-80ed-e434c84a0073.example.com/x' },
    node: '<id>.example.com',
  },
  {
    what: 'the number of a database stays',
    type: 'db',
    metadata: { 'db.system': 'redis', 'db.namespace': '3' },
    node: 'redis/3',
  },
  {
    what: 'an agent is called what it is called',
    type: 'agent',
    metadata: { 'agent.name': 'agent 7 of bd8e5fbe-ad60-4167-80ed-e434c84a0073' },
    node: 'agent 7 of bd8e5fbe-ad60-4167-80ed-e434c84a0073',
  },
  {
    what: 'a name cut before its numbers are folded',
    type: 'custom',
    name: '1000 '.repeat(400),
    node: '<n> '.repeat(205).trim(),
  },

  { what: 'a hint: no node', type: 'custom', name: 'compute', hint: '', node: null },
  {
    what: 'a hint before everything else',
    type: 'agent',
    metadata: { 'gen_ai.agent.name': 'Graph' },
    hint: '@',
    node: AGENT,
  },
  { what: 'a hint: an agent', type: 'agent', hint: '@planner 2', node: 'planner 2' },
  { what: 'a hint: a declared name', type: 'http', hint: '=orders-2', node: 'orders-2' },
  { what: 'a hint: a host', type: 'http', hint: '/https://API.example:8443', node: 'api.example' },
  { what: 'a hint: no host', type: 'http', name: 'GET', hint: '/', node: 'GET' },
  { what: 'a hint: the name of the span', type: 'db', name: 'get 5000', hint: '#', node: 'get <n>' },
  { what: 'a hint: a queue', type: 'custom', hint: '#kafka/orders-1745', node: 'kafka/orders-<n>' },
  { what: 'a hint of a model call', type: 'llm', hint: '=openai', node: null },
  { what: 'a hint of a tool', type: 'tool', hint: '=weather', node: 'weather' },
];

for (const { what, type, name = 'step', input = null, metadata = null, hint = null, node } of CASES) {
  void t.test(`${type}: ${what}`, async (t) => {
    const span = aSpanRecord('t', { type, name, input_data: input, metadata, map_hint: hint });
    t.equal(serviceNodeOf(span), node);
  });
}

const KEYS = [
  'gen_ai.agent.name',
  'agent.name',
  'service.peer.name',
  'peer.service',
  'server.address',
  'url.full',
  'http.url',
  'db.system.name',
  'db.system',
  'db.namespace',
  'db.name',
];
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.webUrl(),
  fc.constantFrom('', ' ', null, 0, true, [], {}, LONG, FEATHERS),
);
const span: fc.Arbitrary<NamedSpan> = fc.record({
  type: fc.constantFrom(...SPAN_TYPES),
  name: fc.string({ unit: anyCharacter, maxLength: 20 }),
  input_data: fc.option(
    fc.record({ url: value, system: value }, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>,
  ),
  metadata: fc.option(fc.dictionary(fc.constantFrom(...KEYS), value) as fc.Arbitrary<JsonObject>),
  map_hint: fc.option(
    fc
      .tuple(
        fc.constantFrom('', '@', '=', '#', '/'),
        fc.oneof(fc.constant(''), fc.webUrl(), fc.string({ unit: anyCharacter, maxLength: 30 })),
      )
      .map(([mark, text]) => (mark === '' ? '' : mark + text)),
  ),
});

void t.test('every span has a storable node name or none', async (t) => {
  holds(
    t,
    fc.property(span, (span) => {
      const node = serviceNodeOf(span);
      if (node === null || node === AGENT) return true;
      return (
        node.length > 0 &&
        Array.from(node).length <= 1024 &&
        node.isWellFormed() &&
        node.trim() === node &&
        !node.includes('\0')
      );
    }),
  );
});

void t.test('node names survive the transfer to a thread as UTF-8', async (t) => {
  holds(
    t,
    fc.property(span, (span) => {
      const source = nodeSource(span);
      if (source === null || source === AGENT) return true;
      const there = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');
      const crossed =
        typeof source === 'string'
          ? there(source)
          : { urls: source.urls.map(there), name: there(source.name) };
      return nodeName(crossed) === serviceNodeOf(span);
    }),
  );
});

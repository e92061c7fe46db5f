import t from 'tap';
import { PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

void t.test('one run reports every error with position, path and remedy', async (t) => {
  const problems = await problemsOf([
    `extensions:
  thing:
    wrod: green
    word: gren
    count: 12
    text: 123
    wait: 5 minutes
    limit: 16MB
    nested: { flag: maybe }
recievers: {}
receivers:
  sorce: {}
  source: []
processors:
  pass:
exporters:
  sink: {}
  "1st": {}
auth: { enabled: 1 }
service:
  extensions: [thing, thinq]
  shutdown_timeout: soon
  pipelines:
    traces:
      receivers: [source, otlp]
      processors: [pass, pass]
      exporters: [sink, pass]
    tracse: { receivers: [source], exporters: [sink] }
    metrics: { receivers: [], exporters: [sink] }
  telemetry: { logs: { level: inof } }
  http: { trusted_proxies: [10.0.0.0/8, 10.0.0.1, "fd00::/129", proxy] }
`,
  ]);
  t.strictSame(problems, [
    'a.yaml:3:5: error: extensions.thing.wrod: unknown key "wrod"; did you mean "word"?',
    'a.yaml:4:5: error: extensions.thing.word: must be one of "red", "green", "blue", but is "gren"; did you mean "green"?',
    'a.yaml:5:5: error: extensions.thing.count: must be <= 9, but is 12',
    'a.yaml:6:5: error: extensions.thing.text: must be text; put it in quotes: "123"',
    'a.yaml:7:5: error: extensions.thing.wait: must be a duration: a whole number and a unit, such as 250ms, 15s, 5m, 2h or 30d, but is "5 minutes"',
    'a.yaml:8:5: error: extensions.thing.limit: must be a size: bytes, or a whole number and a unit, such as 512KiB, 16MiB or 1GiB, but is "16MB"',
    'a.yaml:9:15: error: extensions.thing.nested.flag: must be true or false, but is "maybe"',
    'a.yaml:10:1: error: recievers: unknown section "recievers"; did you mean "receivers"?',
    'a.yaml:12:3: error: receivers.sorce: there is no receiver of type "sorce"; did you mean "source"?',
    'a.yaml:13:3: error: receivers.source: must be a map, but is a list',
    'a.yaml:18:3: error: exporters.1st: "1st" is not an id: write the type, or type/name',
    'a.yaml:19:9: error: auth.enabled: must be true or false, but is 1',
    'a.yaml:21:23: error: service.extensions[1]: there is no extension "thinq" under extensions; did you mean "thing"?',
    'a.yaml:22:3: error: service.shutdown_timeout: must be a duration: a whole number and a unit, such as 250ms, 15s, 5m, 2h or 30d, but is "soon"',
    'a.yaml:25:27: error: service.pipelines.traces.receivers[1]: there is no receiver "otlp" under receivers; known here: "source"',
    'a.yaml:26:26: error: service.pipelines.traces.processors[1]: "pass" is listed twice',
    'a.yaml:27:25: error: service.pipelines.traces.exporters[1]: there is no exporter "pass" under exporters; "pass" is a component of another kind (processor)',
    'a.yaml:28:5: error: service.pipelines.tracse: "tracse" is not a signal: pipelines are named by their signal; did you mean "traces"?',
    'a.yaml:29:16: error: service.pipelines.metrics.receivers: must not be empty',
    'a.yaml:29:43: error: service.pipelines.metrics.exporters[0]: exporter "sink" is not for metrics, only for traces',
    'a.yaml:30:24: error: service.telemetry.logs.level: must be one of "debug", "info", "warn", "error", but is "inof"; did you mean "info"?',
    ...['10.0.0.1', 'fd00::/129', 'proxy'].map(
      (text, index) =>
        `a.yaml:31:${[41, 51, 65][index]}: error: service.http.trusted_proxies[${index + 1}]: must be a range of addresses: an address and the length of its prefix, such as 10.0.0.0/8, 192.0.2.7/32 or fd00::/8, but is "${text}"`,
    ),
  ]);
});

void t.test('an invalid pipeline key hides no other error', async (t) => {
  const problems = await problemsOf([
    PIPELINE.replace('receivers: [source], exporters', 'receivers: sources, procesors: [], exporters')
      .replace('exporters: [sink] }', 'processors: [pas], exporters: [sinc] }')
      .concat('extensions: { thing: {} }\nprocessors: { pass: {} }\n'),
  ]);
  t.match(problems, [
    /pipelines\.traces\.receivers: must be a list, but is a single value/,
    /pipelines\.traces\.procesors: unknown key "procesors"; did you mean "processors"\?/,
    /pipelines\.traces\.processors\[0\]: there is no processor "pas" under processors; did you mean "pass"\?/,
    /pipelines\.traces\.exporters\[0\]: there is no exporter "sinc" under exporters; did you mean "sink"\?/,
  ]);
  t.equal(problems.length, 4);
});

void t.test('a check beyond the schema is an error with a position', async (t) => {
  t.strictSame(await problemsOf([`${PIPELINE}extensions:\n  thing:\n    text: forbidden\n`]), [
    'a.yaml:10:5: error: extensions.thing.text: is a word that check forbids',
  ]);
});

void t.test('invalid YAML reports only its first position, and duplicate keys are errors', async (t) => {
  t.strictSame(await problemsOf(['a: {b: ${env:X}, c: [d}\nfoo: bar\n']), [
    'a.yaml:1:9: error: cannot be read: Unexpected flow-map-start at node end; inside { } and [ ] put "${…}" in quotes',
  ]);
  t.strictSame(await problemsOf(['auth: {}\nauth: {}\n']), [
    'a.yaml:2:1: error: cannot be read: Map keys must be unique',
  ]);
  t.strictSame(await problemsOf(['- a\n']), [
    'a.yaml:1:1: error: the file must be a map of sections (receivers:, exporters:, …)',
  ]);
});

void t.test('an empty file lists the missing sections', async (t) => {
  t.strictSame(await problemsOf(['']), ['a.yaml:1:1: error: service.pipelines: is missing']);
});

void t.test('rejects keys that would change prototypes', async (t) => {
  const problems = await problemsOf([`${PIPELINE}extensions: { thing: { __proto__: { word: blue } } }\n`]);
  t.strictSame(problems, ['a.yaml:8:24: error: not a valid key: use a plain word']);
  t.match(await problemsOf([`${PIPELINE}extensions: { thing: { constructor: 1 } }\n`]), [
    /unknown key "constructor"/,
  ]);
});

void t.test('merge keys and sections for anchors are taken', async (t) => {
  const { config } = await prepareTexts([
    `x-things: &both { count: 2, text: both }\n${PIPELINE}extensions:\n  thing: &first { <<: *both, count: 5 }\n  thing/b:\n    text: own\n    <<: [*first, *both]\n`,
  ]);
  t.match(config.components.extension.get('thing')?.config, { count: 5, text: 'both' });
  t.match(config.components.extension.get('thing/b')?.config, { count: 5, text: 'own' });
  t.match(await problemsOf([`${PIPELINE}extensions:\n  thing: { <<: 5 }\n`]), [/<< merges maps/]);
  t.match(await problemsOf([`${PIPELINE}extensions:\n  thing: { "<<": {} }\n`]), [/unknown key "<<"/]);
});

void t.test('aliases work and cannot be expanded excessively', async (t) => {
  const shared = `${PIPELINE}extensions:\n  thing: &shared { count: 4 }\n  thing/b: *shared\n`;
  t.strictSame(await problemsOf([shared.replace('[thing]', '[thing, thing/b]')]), []);
  const levels = Array.from({ length: 12 }, (_, i) =>
    i === 0
      ? '&l0 [x, x, x, x, x, x]'
      : `&l${i} [${Array(6)
          .fill(`*l${i - 1}`)
          .join(', ')}]`,
  );
  t.match(await problemsOf([`bomb: [${levels.join(', ')}]\n`]), [
    /after expanding aliases: use fewer aliases/,
  ]);
  for (const circle of ['a: &a [*a]', 'a: &a { b: [{ c: *a }] }'])
    t.match(await problemsOf([`# a comment\n${circle}\n`]), [
      /^a\.yaml:2:\d+: error: .*alias \*a refers to a value that contains it: remove the alias$/,
    ]);
});

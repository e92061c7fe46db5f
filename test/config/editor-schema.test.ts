import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { editorSchema } from '../../src/config/editor-schema.js';
import { readProjectFile } from '../support/project-file.js';

const schema = editorSchema(builtinFactories);
// Strict draft-07, as editors read it, without custom keywords or formats.
const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);

const check = (text: string) => isValid(parse(text));

void t.test('the printed schema accepts valid configurations', async (t) => {
  t.ok(check(DEFAULT_CONFIG.text), JSON.stringify(isValid.errors));
  t.ok(check(readProjectFile('config.example.yaml')), JSON.stringify(isValid.errors));
  t.ok(check('processors:\n  validation:\n'), 'a section without a value');
  t.ok(check('receivers: { trace_batch/b: { max_request_body_size: 5 } }'));
  t.ok(check('receivers: { trace_batch: { max_request_body_size: "${env:SIZE}" } }'));
  t.ok(check('auth: { enabled: "${env:AUTH:-true}" }'));
});

void t.test('the printed schema accepts changes of lists', async (t) => {
  const checkExporters = (changes: string) =>
    check(`extends: default\nservice: { pipelines: { traces: { receivers: [a], exporters: ${changes} } } }`);
  t.ok(checkExporters('{ insert: { before: storage, ids: otlp_http }, remove: [webhook] }'));
  t.ok(checkExporters('{ insert: [{ ids: [a] }, { after: a, ids: b }] }'));
  t.notOk(checkExporters('{ insert: { befor: storage, ids: otlp_http } }'));
  t.notOk(checkExporters('{ replace: [a] }'));
  t.notOk(check('extends: base.yaml'));
});

void t.test('the printed schema rejects mistakes', async (t) => {
  t.notOk(check('recievers: {}'));
  t.notOk(check('receivers: { trace_bach: {} }'));
  t.notOk(check('receivers: { trace_batch: { endpont: "127.0.0.1:1" } }'));
  t.notOk(check('receivers: { trace_batch: { request_timeout: 5 } }'));
  t.notOk(check('service: { pipelines: { traces: { receivers: [a] } } }'), 'exporters have no default');
  t.ok(
    check('service: { pipelines: { traces: { receivers: [a], exporters: [b] } } }'),
    'processors have one',
  );
});

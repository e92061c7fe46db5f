import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf } from '../support/config-problems.js';

const SERVICE = 'service: { extensions: [sqlite, duckdb, query, health, postgres] }\n';

async function prepared(url: string) {
  const text = `extensions: { postgres: { url: ${JSON.stringify(url)} } }\n${SERVICE}`;
  return await prepare([DEFAULT_CONFIG, { file: 'a.yaml', text }], environmentOf({}), builtinFactories);
}

void t.test('the PostgreSQL URL and its password are secrets', async (t) => {
  for (const [url, passwords] of [
    ['postgres://me:hidden%2Dword@db.example.com/ours', ['hidden%2Dword', 'hidden-word']],
    ['postgresql://db.example.com:5433/ours?user=me&password=hidden-word', ['hidden-word']],
    ['postgres:///ours?host=/run/postgresql', []],
  ] as const) {
    const { config } = await prepared(url);
    for (const secret of [url, ...passwords]) t.ok(config.secrets.includes(secret), secret);
    t.notOk(config.secrets.includes(''));
  }
});

void t.test('rejects invalid URLs without showing them', async (t) => {
  for (const url of [
    '',
    'hidden-word',
    'https://me:hidden-word@db.example.com/ours',
    'postgres://me:hidden-word@db.example.com',
    'postgres://me:hidden-word@db.example.com/',
    'postgres://me:hidden-word@:bad/ours',
    'postgres:///ours',
  ]) {
    const error: unknown = await prepared(url).then(
      () => null,
      (error: unknown) => error,
    );
    t.match(error, {
      message: /extensions\.postgres\.url: must be postgres:\/\/user:password@host:port\/database/,
    });
    t.notMatch(String(error), 'hidden-word');
  }
});

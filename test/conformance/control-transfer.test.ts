import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import type { ControlFile } from '../../src/storage/contracts/transfer.js';
import { openControlStore } from '../support/control-store.js';
import { anOrganization, aPrompt, aUser, NOBODY } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { testFolder } from '../support/test-folder.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

/** Exports into a new folder. @returns the files with their lines in a canonical order */
async function exported(
  t: Test,
  { transfer }: ControlStore,
): Promise<{ readonly files: readonly ControlFile[]; readonly lines: Readonly<Record<string, string[]>> }> {
  const folder = join(testFolder(t), randomUUID());
  mkdirSync(folder);
  const files = (await transfer.export(folder)).map((file) => ({ ...file, path: join(folder, file.name) }));
  const linesOf = ({ path, name, rows }: ControlFile) => {
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1).map(sortedKeys).sort();
    t.equal(lines.length, rows);
    return [name, lines] as const;
  };
  return { files, lines: Object.fromEntries(files.map(linesOf)) };
}

function sortedKeys(line: string): string {
  return JSON.stringify(Object.entries(JSON.parse(line) as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkTransfer(t: Test, open: OpenControl): void {
  void t.test('an export imports unchanged into another engine and exports again', async (t) => {
    const { store } = await open(t);
    t.equal(await store.transfer.holds(), null);
    const [ann, bob] = [aUser({ email: 'ann@example.org' }), aUser({ email: 'bob@example.org' })];
    for (const user of [ann, bob]) await store.accounts.createUser(user);
    await store.organizations.create(anOrganization('shop'));
    await store.organizations.putMember('shop', bob.id, 'admin');
    for (const name of ODD_TEXTS)
      await store.views.put(ann.id, { id: randomUUID(), name, path: '/runs', org_slug: null });
    await store.prompts.create(ann.id, aPrompt({ type: 'chat', template_text: '[]' }));
    const move = { name: 'prompt', label: 'production', to: [{ version: 1, weight: 1 }], expected: null };
    await store.promptLabels.move(ann.id, move, NOBODY);
    const secret = { sealed_secret: 'sealed', created_at: 1 };
    await store.alertSecrets.rotate(ann.id, secret);
    const first = await exported(t, store);
    t.equal(first.lines['views.jsonl']?.length, ODD_TEXTS.length);
    t.equal(await store.transfer.holds(), 'users');

    const other = await openControlStore(t);
    await other.transfer.reserve(first.files);
    t.equal(await other.transfer.holds(), null);
    await other.transfer.import(first.files);
    t.strictSame((await exported(t, other)).lines, first.lines);
    t.strictSame(await other.alertSecrets.find(ann.id), secret);
    t.strictSame(await other.promptLabels.list(ann.id), await store.promptLabels.list(ann.id));
    t.strictSame(await other.promptLabels.follow(0), await store.promptLabels.follow(0));
    t.match(await other.promptLabels.find(ann.id, 'prompt', { kind: 'version', version: 1 }), {
      prompt: { type: 'chat' },
    });
    t.strictSame((await other.accounts.listUsers()).map(({ id }) => id).sort(), [ann.id, bob.id].sort());
    // The next user gets a new number.
    await other.accounts.createUser(aUser({ email: 'new@example.org' }));
    const tenants = (await exported(t, other)).lines['users.jsonl'] ?? [];
    t.equal(new Set(tenants.map((line) => /"tenant",(\d+)/.exec(line)?.[1])).size, 3);
  });

  void t.test('control data of a telemetry store is exported unchanged', async (t) => {
    const { transfer, writes, agents } = (await open(t)).store;
    const [id, batch] = [randomUUID(), randomUUID()];
    const common = { tenant: 7, received_at: 0 };
    await transfer.importBase('store', {
      agents: [{ tenant: 7, agent_no: 1, id, name: 'shop', kind: 0, created_at: 5 }],
      usage: [
        { tenant: 7, period: 24_000, items: 30 },
        { tenant: 7, period: -20_000, items: 20 },
      ],
      batches: [{ ...common, batch, refused: '1,4' }],
    });
    await agents.number('store', [{ tenant: 7, name: 'named', at: 9, comesIntoBeing: false }], 100);
    // An unfinished write is not exported.
    const unfinished = { tenant: 7, name: randomUUID() };
    await writes.begin({
      store: 'store',
      owner: 'a',
      leaseMs: 60_000,
      traces: [],
      charges: [],
      batch: unfinished,
    });
    const found = await transfer.exportBase('store', 'agents');
    t.match(found, [
      { tenant: 7, id, name: 'shop', kind: 0, created_at: 5 },
      { tenant: 7, name: 'named', kind: 0, created_at: null },
    ]);
    t.strictSame(await transfer.exportBase('store', 'usage'), [
      { tenant: 7, period: 24_000, items: 30 },
      { tenant: 7, period: -20_000, items: 20 },
    ]);
    t.match(await transfer.exportBase('store', 'batches'), [{ tenant: 7, batch, refused: '1,4' }]);
    for (const table of ['agents', 'usage', 'batches'] as const)
      t.strictSame(await transfer.exportBase('other', table), []);
  });

  void t.test('invalid lines and other versions are reported, and nothing is imported', async (t) => {
    const { store } = await open(t);
    await store.accounts.createUser(aUser());
    const { files } = await exported(t, store);
    const other = await openControlStore(t);
    const users = files.find(({ name }) => name === 'users.jsonl');
    const text = readFileSync(users?.path ?? '', 'utf8');
    const refuses = async (changed: string, message: RegExp): Promise<void> => {
      writeFileSync(users?.path ?? '', changed);
      await t.rejects(other.transfer.import(files), message);
      t.equal(await other.transfer.holds(), null);
    };
    await refuses(`${text}{"id"\n`, /users.jsonl, line 2: it is not valid JSON/);
    await refuses(text.replace('"email"', '"mail"'), /users.jsonl, line 1: its columns differ from those/);
    await refuses('', /has 0 rows but should have 1/);
    const without = files.filter((file) => file !== users);
    await t.rejects(other.transfer.import(without), /users.jsonl is missing/);
  });
}

await onEveryControl(t, checkTransfer);

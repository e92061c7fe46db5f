import { join } from 'node:path';
import t from 'tap';
import { TestStore } from '../test-store.js';
import { testFolder } from '../../../support/test-folder.js';

void t.test('accepts any name for the main file', async (t) => {
  const names = [
    'my-store',
    'a b',
    '2026',
    'order',
    "it's",
    'cold',
    'meta',
    'g1',
    'memory',
    'system',
    'Ünï',
    'x.y',
  ];
  for (const name of names) {
    const store = await TestStore.open(t, { path: join(testFolder(t), `${name}.duckdb`) });
    const tenant = await store.addUser();
    await store.close();
    await store.start();
    t.same(await store.store.agents.list(tenant), [], name);
    await store.close();
  }
});

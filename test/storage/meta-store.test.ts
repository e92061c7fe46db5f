import { dirname } from 'node:path';
import t from 'tap';
import { checkMetaStore } from './meta-store-checks.js';
import { TestStore } from './test-store.js';

checkMetaStore(t, async (t) => {
  const opened = await TestStore.open(t);
  t.equal(opened.store.directory, dirname(opened.path));
  return {
    store: opened.store,
    reopen: async () => {
      await opened.reopen();
      return opened.store;
    },
  };
});

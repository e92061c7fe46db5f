import t from 'tap';
import { onEveryControl } from './control-stores.js';

await onEveryControl(t, (t, open) => {
  void t.test('a store keeps its id, and concurrent first reads agree', async (t) => {
    const control = await open(t);
    const another = await control.another();
    const [one, two] = await Promise.all([control.store.identity(), another.identity()]);
    t.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.equal(two, one);
    t.equal(await (await control.reopen()).identity(), one);
    await t.test('another store has another id', async (t) => {
      t.not(await (await open(t)).store.identity(), one);
    });
  });
});

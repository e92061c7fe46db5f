import t from 'tap';
import { ChangedIds } from '../../../src/storage/control/changed-ids.js';

void t.test('returns changed ids in pages without duplicates and counts dropped ids', async (t) => {
  const changed = new ChangedIds();
  let calls = 0;
  const unwatch = changed.watch(() => {
    calls += 1;
  });
  const { next } = changed.since(null);
  changed.note([]);
  t.equal(calls, 0);
  changed.note(Array.from({ length: 4500 }, (_, i) => String(i)));
  changed.note(['4499', '4000']);
  unwatch();
  changed.note(['4001']);
  t.equal(calls, 2);
  const ids: string[] = [];
  let [place, lost] = [next, 0];
  for (let page = changed.since(place); page.ids.length > 0; page = changed.since(place)) {
    t.ok(page.ids.length <= 200);
    ids.push(...page.ids);
    lost += page.lost;
    place = page.next;
  }
  t.equal(lost, 500);
  t.equal(new Set(ids).size, ids.length);
  t.equal(ids.length, 4000);
  t.same([ids[0], ...ids.slice(-3)], ['500', '4499', '4000', '4001'], 'ordered by last change');
  t.same(changed.since(place), { ids: [], next: place, lost: 0 });
  changed.note(['a']);
  changed.lose(3);
  changed.lose(0);
  changed.note(['b']);
  changed.lose(3);
  const then = changed.since(place);
  t.match(then, { ids: ['a', 'b'], lost: 6 }, 'dropped ids are reported in between');
  t.same(changed.since(then.next), { ids: [], next: then.next, lost: 0 });
});

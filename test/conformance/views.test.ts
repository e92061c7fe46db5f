import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import {
  type SavedView,
  VIEWS_OF_A_USER,
  VIEWS_OF_AN_ORGANIZATION,
} from '../../src/storage/contracts/accounts.js';
import { anOrganization, aUser } from '../storage/duckdb/meta-records.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

function aView(changes: Partial<SavedView> = {}): SavedView {
  return { id: randomUUID(), name: 'failures', path: '/runs?status=failed', org_slug: null, ...changes };
}

/** The view as seen by a user who may change it. */
const mine = (view: SavedView) => ({ ...view, may_change: true });

async function addUsers({ accounts }: ControlStore, ...names: readonly string[]): Promise<string[]> {
  const users = names.map((name) => aUser({ email: `${name}@example.org` }));
  for (const user of users) await accounts.createUser(user);
  return users.map(({ id }) => id);
}

function checkViews(t: Test, open: OpenControl): void {
  void t.test('views are stored unchanged and changed and removed only by their creator', async (t) => {
    const opened = await open(t);
    const { views } = opened.store;
    const [ann = '', bob = ''] = await addUsers(opened.store, 'ann', 'bob');
    const made = ODD_TEXTS.map((name, i) => aView({ name, path: `/runs?page=${String(i)}` }));
    for (const view of made) t.equal(await views.put(ann, view), 'saved');
    const byId = (list: readonly SavedView[]) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
    const { views: again } = await opened.reopen();
    t.strictSame(byId(await again.list(ann)), byId(made.map(mine)));
    t.strictSame(await again.list(bob), []);
    const [first = aView()] = made;
    t.equal(await again.put(bob, { ...first, name: 'mine' }), 'foreign');
    t.equal(await again.remove(bob, first.id), false);
    for (const view of made.slice(1)) t.equal(await again.remove(ann, view.id), true);
    t.equal(await again.put(ann, { ...first, name: 'other', path: '/models' }), 'saved');
    t.strictSame(await again.list(ann), [mine({ ...first, name: 'other', path: '/models' })]);
    t.equal(await again.remove(ann, first.id), true);
    t.equal(await again.remove(ann, first.id), false);
  });

  void t.test('organization views are visible to members and changed by administrators', async (t) => {
    const opened = await open(t);
    const { views, organizations } = opened.store;
    const [maker = '', admin = '', member = '', other = ''] = await addUsers(
      opened.store,
      'a',
      'b',
      'c',
      'd',
    );
    await organizations.create(anOrganization('beta'));
    await organizations.putMember('beta', maker, 'member');
    await organizations.putMember('beta', admin, 'admin');
    await organizations.putMember('beta', member, 'member');
    const view = aView({ org_slug: 'beta' });
    t.equal(await views.put(other, view), 'no_organization');
    t.equal(await views.put(maker, { ...view, org_slug: 'none' }), 'no_organization');
    t.equal(await views.put(maker, view), 'saved');
    t.equal(await views.put(maker, aView({ name: 'own' })), 'saved');
    t.strictSame(await views.list(admin), [mine(view)]);
    t.strictSame(await views.list(member), [{ ...view, may_change: false }]);
    t.equal((await views.list(maker)).length, 2);
    t.strictSame(await views.list(other), []);
    t.equal(await views.put(member, view), 'foreign');
    t.equal(await views.put(admin, { ...view, name: 'ours' }), 'saved');
    t.strictSame(await views.list(member), [{ ...view, name: 'ours', may_change: false }]);
    await organizations.removeMember('beta', member);
    t.strictSame(await views.list(member), [], 'immediately');
    t.equal(await views.remove(member, view.id), false);
    t.equal(await views.remove(admin, view.id), true);
  });

  void t.test('limits concurrent views per user and organization', async (t) => {
    const opened = await open(t);
    const { views, organizations } = opened.store;
    const users = await addUsers(opened.store, 'a', 'b', 'c');
    await organizations.create(anOrganization('beta'));
    for (const user of users) await organizations.putMember('beta', user, 'member');
    const [ann = ''] = users;
    const kept = aView();
    t.equal(await views.put(ann, kept), 'saved');
    const all = await Promise.all(Array.from({ length: VIEWS_OF_A_USER + 5 }, () => views.put(ann, aView())));
    t.equal(all.filter((saved) => saved === 'saved').length, VIEWS_OF_A_USER - 1);
    t.equal(all.filter((saved) => saved === 'full').length, 6);
    t.equal(await views.put(ann, { ...kept, name: 'x' }), 'saved', 'a change needs no space');
    let shared = 0;
    for (const user of users.slice(1))
      for (let i = 0; i < VIEWS_OF_A_USER; i++)
        if ((await views.put(user, aView({ org_slug: 'beta' }))) === 'saved') shared++;
    t.equal(shared, VIEWS_OF_AN_ORGANIZATION);
    t.equal(await views.put(ann, { ...kept, org_slug: 'beta' }), 'full');
  });
}

await onEveryControl(t, checkViews);

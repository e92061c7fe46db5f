import t from 'tap';
import { OpenedSecrets } from '../../../src/exporters/webhook/opened-secrets.js';

/** Decrypts `sealed x` to `x` unless a test makes it fail, and records the requests. */
function aBox() {
  const asked: string[] = [];
  const faults: Error[] = [];
  const open = async (sealed: string, owner: string): Promise<string> => {
    asked.push(`${owner}: ${sealed}`);
    const fault = faults.shift();
    if (fault) throw fault;
    return sealed.replace('sealed ', '');
  };
  return { open, asked, faults };
}

void t.test('decrypts each secret once per owner and after a rotation', async (t) => {
  const box = aBox();
  const secrets = new OpenedSecrets(box);
  const opened = await Promise.all([secrets.open('sealed a', 'one'), secrets.open('sealed a', 'one')]);
  t.same([...opened, await secrets.open('sealed a', 'one')], ['a', 'a', 'a']);
  t.same(box.asked, ['one: sealed a']);
  box.faults.push(new Error('it is not yours'));
  await t.rejects(secrets.open('sealed a', 'two'), { message: 'it is not yours' });
  t.equal(await secrets.open('sealed b', 'one'), 'b');
  t.same(box.asked, ['one: sealed a', 'two: sealed a', 'one: sealed b']);
});

void t.test('retries a failed decryption', async (t) => {
  const box = aBox();
  const secrets = new OpenedSecrets(box);
  box.faults.push(new Error('the key is gone'));
  const both = await Promise.allSettled([secrets.open('sealed a', 'one'), secrets.open('sealed a', 'one')]);
  t.same(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  t.equal(await secrets.open('sealed a', 'one'), 'a');
  t.equal(box.asked.length, 2);
});

void t.test('evicts the least recently used secret', async (t) => {
  const box = aBox();
  const secrets = new OpenedSecrets(box, 2);
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await secrets.open(`sealed ${name}`, 'one');
  t.same(box.asked, ['one: sealed a', 'one: sealed b', 'one: sealed c', 'one: sealed b']);
});

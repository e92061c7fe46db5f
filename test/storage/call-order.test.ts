import t from 'tap';
import { CallOrder } from '../../src/storage/shared/call-order.js';

void t.test('sends the writes of a user in call order', async (t) => {
  const order = new CallOrder();
  const sent: string[] = [];
  const answers = new Map<string, () => void>();
  const send = async (made: string): Promise<string> => {
    sent.push(made);
    await new Promise<void>((resolve) => answers.set(made, resolve));
    return `${made}!`;
  };
  let answer: (made: string) => void = () => undefined;
  const question = new Promise<string>((resolve) => (answer = resolve));

  const first = order.send('ann', () => question, send);
  const second = order.send('ann', () => 'second', send);
  const third = order.send('ann', async () => await Promise.resolve('third'), send);
  void order.send('ben', () => 'ben', send);
  t.same(sent, ['ben'], 'a waiting user does not delay others');

  answer('first');
  await question;
  await new Promise(setImmediate);
  t.same(sent, ['ben', 'first', 'second', 'third'], 'each is sent before the previous one is answered');
  void order.send('ann', () => 'fourth', send);
  t.equal(sent.at(-1), 'fourth', 'a call without predecessors is sent immediately');

  for (const end of answers.values()) end();
  t.same(await Promise.all([first, second, third]), ['first!', 'second!', 'third!']);
});

void t.test('sends later calls after a failed query', async (t) => {
  const order = new CallOrder();
  const first = order.send('ann', async () => await Promise.reject(new Error('no such user')), neverSent);
  const second = order.send('ann', async () => await Promise.reject(new Error('no such prompt')), neverSent);
  const third = order.send(
    'ann',
    () => 'third',
    async (made) => await Promise.resolve(made),
  );
  await t.rejects(first, { message: 'no such user' });
  await t.rejects(second, { message: 'no such prompt' });
  t.equal(await third, 'third');
});

async function neverSent(): Promise<never> {
  return await Promise.reject(new Error('was sent'));
}

import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { chooseCoding } from '../../src/http/compression.js';
import { entityTag, packOnce } from '../../src/http/entity-tag.js';

void t.test('the tag depends on the content only', async (t) => {
  t.equal(entityTag(Buffer.from('a')), entityTag(Buffer.from('a')));
  t.not(entityTag(Buffer.from('a')), entityTag(Buffer.from('b')));
  t.match(entityTag(Buffer.from('a')), /^"[A-Za-z0-9_-]{22}"$/);
});

void t.test('compresses a tagged body once per coding', async (t) => {
  let packings = 0;
  const coding = chooseCoding('br');
  if (coding === undefined) throw new Error('every version of Node has brotli');
  const counting = {
    ...coding,
    pack: (body: string | Uint8Array) => {
      packings++;
      return coding.pack(body);
    },
  };
  const body = Buffer.from('x'.repeat(5000));
  const forms = await Promise.all([packOnce(counting, body), packOnce(counting, body)]);
  t.equal(packings, 1);
  t.equal(forms[0], forms[1]);
  t.equal(brotliDecompressSync(forms[0]).toString(), body.toString());
  await packOnce({ ...counting, name: 'another' }, body);
  await packOnce(counting, Buffer.from(body));
  t.equal(packings, 3, 'other codings and contents are separate');
});

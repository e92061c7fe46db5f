// Generates the code that decodes and encodes the messages of this folder: npm run generate
// --print writes it to standard output, for the test that compares it with the committed file.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import cli from 'protobufjs-cli';

const FOLDER = import.meta.dirname;
const TARGET = join(FOLDER, '../src/otlp/wire/generated/messages.ts');
const HEADER =
  '// @ts-nocheck: generated from proto/ by npm run generate; messages.ts next to this folder has the types.\n';

/** Only decoders and encoders are generated. */
const OPTIONS = [
  ['--target', 'static-module'],
  ['--wrap', 'esm'],
  ['--es6'],
  ['--root', 'jackdaw'],
  ['--force-long'],
  ['--path', FOLDER],
  ...['create', 'verify', 'convert', 'delimited', 'typeurl', 'comments', 'service'].map((part) => [
    `--no-${part}`,
  ]),
].flat();

// The services and the errors import all other files.
const files = readdirSync(FOLDER, { recursive: true })
  .filter((name) => /(_service|\/rpc\/\w+)\.proto$/.test(name))
  .sort()
  .map((name) => join(FOLDER, name));
const generated = HEADER + (await promisify(cli.pbjs.main)([...OPTIONS, ...files]));
if (process.argv.includes('--print')) process.stdout.write(generated);
else writeFileSync(TARGET, generated);

// Builds self-contained archives in .build/release, Node.js included: `npm run release`, or `npm run release -- linux-arm64`. Packages
// come from the registry as the lock file pins them. Prints the SHA-256 of each archive, as in SHA256SUMS next to them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const TARGET = join(ROOT, '.build/release');
const NODE = '24.22.3';
const PLATFORMS = ['linux-x64', 'linux-arm64'];
/** `bin/jackdaw` in an archive. Follows symbolic links such as /usr/bin/jackdaw. */
const LAUNCHER = `#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")
exec "$folder/node" --max-semi-space-size=64 "$folder/../lib/dist/src/jackdaw.cjs" "$@"
`;

const wanted = process.argv.length > 2 ? process.argv.slice(2) : PLATFORMS;
for (const platform of wanted)
  if (!PLATFORMS.includes(platform)) throw new Error(`"${platform}" is not one of ${PLATFORMS.join(', ')}`);
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET, { recursive: true });
const ours = packed(ROOT, '.');
const sums = wanted.map((platform) => {
  const archive = build(platform);
  const sum = createHash('sha256')
    .update(readFileSync(join(TARGET, archive)))
    .digest('hex');
  return `${sum}  ${archive}`;
});
rmSync(ours);
const list = `${sums.join('\n')}\n`;
writeFileSync(join(TARGET, 'SHA256SUMS'), list);
process.stdout.write(list);

function build(platform) {
  const [os, cpu] = platform.split('-');
  const name = `jackdaw-${version}-${platform}`;
  const folder = join(TARGET, name);
  const [bin, lib] = [join(folder, 'bin'), join(folder, 'lib')];
  for (const one of [bin, lib]) mkdirSync(one, { recursive: true });
  run('tar', ['-xzf', ours, '--strip-components=1', '-C', lib]);
  copyFileSync(join(ROOT, 'package-lock.json'), join(lib, 'package-lock.json'));
  const only = ['--omit=dev', '--omit=peer', `--os=${os}`, `--cpu=${cpu}`, '--libc=glibc'];
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...only], lib);
  rmSync(join(lib, 'package-lock.json'));
  const addons = join(lib, 'node_modules/@photostructure/sqlite/prebuilds');
  for (const other of readdirSync(addons))
    if (other !== platform) rmSync(join(addons, other), { recursive: true });

  const node = packed(TARGET, `node-${platform}@${NODE}`);
  run('tar', ['-xzf', node, '--strip-components=2', '-C', bin, 'package/bin/node']);
  rmSync(node);
  writeFileSync(join(bin, 'jackdaw'), LAUNCHER);
  chmodSync(join(bin, 'jackdaw'), 0o755);
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(ROOT, file), join(folder, file));
  run('tar', ['-czf', `${name}.tar.gz`, '--owner=0', '--group=0', name], TARGET);
  rmSync(folder, { recursive: true });
  return `${name}.tar.gz`;
}

/** @returns the path of the package's archive */
function packed(cwd, what) {
  const output = execFileSync('npm', ['pack', '--silent', '--pack-destination', TARGET, what], {
    cwd,
    encoding: 'utf8',
  });
  return join(TARGET, output.trim().split('\n').at(-1));
}

function run(command, args, cwd = ROOT) {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

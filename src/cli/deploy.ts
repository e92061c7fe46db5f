import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { parseDocument, type Document } from 'yaml';
import { packageRoot } from '../config/package-root.js';
import { areComplete } from '../config/load.js';
import { parseSize } from '../config/size.js';
import { decodeUtf8 } from '../config/utf8.js';
import type { CliIo } from './io.js';
import { UsageError } from './usage-error.js';

/** A value for the files of a kind. @param folder where they were copied to */
type Change = (folder: string, value: string) => void;

interface Kind {
  /** What to do with the files. */
  readonly next: string;
  readonly image?: Change;
  /** @param value in mebibytes, such as `1024` */
  readonly memory?: Change;
  /** @param value text of a configuration file */
  readonly config?: Change;
}

const COMPOSE_FILES = ['compose.yaml', 'compose.gateway.yaml'];
const CHART_VALUES = 'jackdaw/values.yaml';

/** The folders of `plugins/deploy`. */
const KINDS: Readonly<Record<string, Kind>> = {
  container: {
    next: 'put the archive of the release next to the Dockerfile, then run "docker compose up --build"',
    image: (folder, image) => {
      for (const file of COMPOSE_FILES)
        setInYaml(join(folder, file), ['services', 'jackdaw', 'image'], image);
    },
    memory: (folder, mebibytes) => {
      for (const file of COMPOSE_FILES)
        setInYaml(join(folder, file), ['services', 'jackdaw', 'mem_limit'], `${mebibytes}m`);
    },
    config: addConfig,
  },
  kubernetes: {
    next: 'helm install jackdaw ./jackdaw; sidecar.yaml shows a sidecar',
    image: (folder, image) => {
      const tagAt = image.indexOf(':', image.lastIndexOf('/'));
      const [repository, tag] = tagAt < 0 ? [image, ''] : [image.slice(0, tagAt), image.slice(tagAt + 1)];
      setInYaml(join(folder, CHART_VALUES), ['image', 'repository'], repository);
      setInYaml(join(folder, CHART_VALUES), ['image', 'tag'], tag);
    },
    memory: (folder, mebibytes) => {
      setInYaml(join(folder, CHART_VALUES), ['resources', 'limits', 'memory'], `${mebibytes}Mi`);
    },
    config: (folder, text) => {
      setInYaml(join(folder, CHART_VALUES), ['gateway', 'config'], parseDocument(text).contents);
    },
  },
  monitoring: {
    next: 'name prometheus-rules.yaml under rule_files of Prometheus, and import grafana-dashboard.json in Grafana',
  },
  systemd: {
    next: 'unpack the archive of the release as /opt/jackdaw and install the unit, or build packages with nfpm.yaml',
    memory: (folder, mebibytes) => {
      const unit = join(folder, 'jackdaw.service');
      writeFileSync(unit, readFileSync(unit, 'utf8').replace(/^MemoryMax=.*$/m, `MemoryMax=${mebibytes}M`));
    },
    config: (folder, text) => {
      // A complete configuration, such as that of a sidecar, is not merged over the built-in one.
      if (areComplete([{ file: '--config', text }])) writeFileSync(join(folder, 'config/jackdaw.yaml'), text);
      else addConfig(folder, text);
    },
  },
};

interface Options {
  readonly to: string;
  readonly image?: string;
  readonly memory?: string;
  readonly config?: string;
}

/** `jackdaw deploy KIND --to DIR` */
export function deployCommand(io: CliIo): Command {
  return new Command('deploy')
    .description(
      'Write the files for running Jackdaw in containers, in Kubernetes or under systemd, and for watching it.',
    )
    .addArgument(new Argument('<kind>', 'what to deploy').choices(Object.keys(KINDS)))
    .requiredOption('--to <folder>', 'folder to write to; new or empty')
    .option('--image <name>', 'image of Jackdaw, with its tag (container, kubernetes)')
    .option('--memory <size>', 'memory limit, such as 2GiB (container, kubernetes, systemd)')
    .option(
      '--config <file>',
      'configuration to merge over that of the files (container, kubernetes, systemd)',
    )
    .action((name: string, options: Options) => {
      deploy(io, name, options);
    });
}

/** @throws UsageError if the folder has files, or the kind has no such value */
function deploy(io: CliIo, name: string, { to, ...values }: Options): void {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`there is no kind "${name}"`);
  const changes = Object.entries(values).map(([option, value]: [string, string]) => {
    const change = kind[option as keyof typeof values];
    if (change === undefined) throw new UsageError(`${name} has no --${option}`);
    return { change, text: READ[option as keyof typeof values](value) };
  });
  const folder = resolve(to);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${to} is not empty: give --to another folder, so that no file is overwritten`);
  const from = join(packageRoot(), 'plugins/deploy', name);
  const readme = join(from, 'README.md');
  cpSync(from, folder, { recursive: true, filter: (path) => path !== readme });
  for (const { change, text } of changes) change(folder, text);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const names = files.map((file) => relative(folder, join(file.parentPath, file.name))).sort();
  io.out(`Wrote ${names.join(', ')} into ${to}.

Next: ${kind.next}. All steps: ${readme}`);
}

/** Checks the values of options. @throws UsageError */
const READ: Readonly<Record<'image' | 'memory' | 'config', (value: string) => string>> = {
  image: (value) => value,
  memory: (value) => {
    const bytes = parseSize(value);
    if (bytes === undefined || bytes < 128 * 1024 ** 2)
      throw new UsageError(`--memory ${value}: give a size of at least 128MiB, such as 512MiB or 2GiB`);
    return String(Math.floor(bytes / 1024 ** 2));
  },
  config: (file) => {
    const text = decodeUtf8(readFileSync(file));
    const [error] = parseDocument(text).errors;
    if (error !== undefined) throw new UsageError(`${file}: ${error.message}`);
    return text;
  },
};

function addConfig(folder: string, text: string): void {
  writeFileSync(join(folder, 'config/local.yaml'), text);
}

/** Sets one value and keeps comments. */
function setInYaml(file: string, path: readonly string[], value: unknown): void {
  const document: Document = parseDocument(readFileSync(file, 'utf8'));
  document.setIn(path, value);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import type { Kind } from '../component/component-id.js';
import { readVersion } from '../config/package-version.js';
import type { CliIo } from './io.js';
import { exporterTemplate } from './plugin-new/exporter.js';
import { extensionTemplate } from './plugin-new/extension.js';
import { packageFiles } from './plugin-new/package-files.js';
import { processorTemplate } from './plugin-new/processor.js';
import { receiverTemplate } from './plugin-new/receiver.js';
import type { PluginTemplate } from './plugin-new/template.js';
import { UsageError } from './usage-error.js';

const TEMPLATES: Readonly<Record<Kind, PluginTemplate>> = {
  receiver: receiverTemplate,
  processor: processorTemplate,
  exporter: exporterTemplate,
  extension: extensionTemplate,
};

/** A package name without a scope from which a type can be derived: letters, digits and single hyphens. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
/** A component's type may have 63. */
const MAX_NAME = 60;

interface Options {
  readonly kind: Kind;
  readonly directory?: string;
}

/** `jackdaw plugin new NAME --kind KIND` */
export function pluginCommand(io: CliIo): Command {
  const command = new Command('plugin').description('Create plugins, which add components.');
  command.addCommand(
    new Command('new')
      .description('Create a working plugin with a test in a new directory of that name.')
      .addArgument(
        new Argument('<name>', 'name of the package and its directory: letters, digits and hyphens'),
      )
      .addOption(
        new Option('--kind <kind>', 'kind of component')
          .choices(Object.keys(TEMPLATES))
          .makeOptionMandatory(),
      )
      .option('--directory <folder>', 'new directory to write to instead')
      .action((name: string, options: Options) => {
        create(io, name, options);
      }),
  );
  return command;
}

/** @throws UsageError for an invalid name, and if the path exists */
function create(io: CliIo, name: string, { kind, directory = name }: Options): void {
  if (!NAME.test(name) || name.length > MAX_NAME)
    throw new UsageError(
      `"${name}" cannot be the name of a plugin: it needs up to ${MAX_NAME} lower-case letters, digits and single hyphens, such as my-plugin`,
    );
  if (name === 'jackdaw') throw new UsageError('"jackdaw" is the program itself: choose another name');
  const folder = resolve(directory);
  if (existsSync(folder))
    throw new UsageError(`${directory} already exists: choose another name or another --directory`);
  const of = { name, type: name.replaceAll('-', '_') };
  const files = packageFiles(of, kind, TEMPLATES[kind], readVersion());
  mkdirSync(folder, { recursive: true });
  // `wx` does not overwrite a file created meanwhile.
  for (const [file, text] of Object.entries(files))
    writeFileSync(join(folder, file), text, { flag: 'wx', mode: 0o644 });
  const place = relative(process.cwd(), folder) || '.';
  io.out(`Wrote ${Object.keys(files).join(', ')} into ${place}.

Next:
  cd ${place}
  npm install --save-dev PATH-OF-JACKDAW   # a clone or a tarball; it is needed for the test only
  npm test
  jackdaw run --config YOUR-CONFIGURATION --config jackdaw.yaml`);
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder, readProjectFile } from './project-file.js';

/** A YAML block of a page. */
export interface YamlExample {
  /** `src/cli/README.md#1`: the page and the index of the block. */
  readonly name: string;
  readonly text: string;
}

/** Its examples are values and configurations of other programs: `test/cli/deploy.test.ts`. */
const OTHERS = join('plugins', 'deploy');

const pages = ['src', 'plugins']
  .flatMap((folder) =>
    readdirSync(join(projectFolder(), folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  )
  .concat('README.md')
  .filter((name) => name.endsWith('.md') && !name.startsWith(OTHERS));

/** All YAML examples of all pages. */
export const yamlExamples: readonly YamlExample[] = pages.flatMap((page) =>
  [...readProjectFile(page).matchAll(/^```ya?ml\n([^]*?)^```/gm)].map(([, text = ''], index) => ({
    name: `${page}#${index + 1}`,
    text,
  })),
);

/** @throws Error if there is no example with that name */
export function yamlExample(name: string): string {
  const found = yamlExamples.find((example) => example.name === name);
  if (!found) throw new Error(`there is no example ${name}`);
  return found.text;
}

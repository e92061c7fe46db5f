import { readFileSync } from 'node:fs';
import { Type, type Static, type TObject } from 'typebox';
import { signalsOf, type Factory, type Stability } from '../component/factory.js';
import type { Kind } from '../component/component-id.js';
import type { Factories } from '../config/config.js';
import { ConfigError, type Position, type Problem } from '../config/config-error.js';
import { locate, nodeAt, type ConfigNode, type MapNode } from '../config/config-node.js';
import { suggestion } from '../config/nearest-name.js';
import { decodeUtf8 } from '../config/utf8.js';
import { parseYaml } from '../config/parse-yaml.js';
import { checkSchema } from '../config/schema-check.js';
import { choice, section } from '../config/schema.js';
import { SIGNALS, type Signal } from '../signal/batch.js';
import { parametersIn } from './template-parameters.js';

/** One component of a template. */
export interface TemplatePart {
  readonly factory: Factory;
  /** Its configuration, before parameters are substituted. */
  readonly node: ConfigNode;
  readonly position: Position;
}

/** A component type composed of others, as described by a YAML file. */
export interface Template {
  readonly kind: Kind;
  readonly type: string;
  readonly description: string;
  readonly stability: Stability;
  readonly configSchema: TObject;
  /** In the order of the data flow; empty if there are pipelines. */
  readonly parts: readonly TemplatePart[];
  /** Alternative to `parts`: one chain for each signal. */
  readonly pipelines: ReadonlyMap<Signal, readonly TemplatePart[]>;
}

const chain = (description: string) =>
  Type.Array(Type.Object({}, { minProperties: 1, maxProperties: 1 }), {
    minItems: 1,
    // The schemas of the components define where expressions may occur.
    hasExpressions: true,
    description: `${description} One map each, from the type of a component to its configuration.`,
  });

const TemplateSchema = section({
  kind: choice(['receiver', 'processor', 'exporter', 'extension'], {
    description: 'Kind of component that the chain is.',
  }),
  type: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$', description: 'Type name in the configuration.' }),
  description: Type.String({
    default: 'A template.',
    description: 'Description shown by jackdaw components.',
  }),
  stability: choice(['development', 'alpha', 'beta', 'stable'], {
    default: 'beta',
    description: 'Stability of the template.',
  }),
  parameters: Type.Object({}, { default: {}, description: 'A JSON Schema of type object.' }),
  components: Type.Optional(chain('Components of the chain, in order.')),
  pipelines: Type.Optional(
    section(
      Object.fromEntries(SIGNALS.map((signal) => [signal, Type.Optional(chain(`Chain for ${signal}.`))])),
      {
        description: 'Chains by signal, instead of components (processors and exporters only).',
        isOptional: true,
      },
    ),
  ),
});

/**
 * Reads a template.
 *
 * @param path of the file
 * @param factories available component types
 * @throws ConfigError with all problems of the template; Error if the file cannot be read
 */
export function readTemplate(path: string, factories: Factories): Template {
  const { root, problems } = parseYaml(
    decodeUtf8(readFileSync(path)),
    path,
    'a map with kind, type and components',
  );
  if (!root || root.kind !== 'map') throw new ConfigError(problems);
  const checked = checkSchema(TemplateSchema, root, []);
  if (checked.problems.length > 0) throw new ConfigError(checked.problems);
  return new TemplateReader(root, checked.value as Static<typeof TemplateSchema>, factories).read();
}

class TemplateReader {
  readonly #root: MapNode;
  readonly #written: Static<typeof TemplateSchema>;
  readonly #factories: Factories;
  readonly #problems: Problem[] = [];

  constructor(root: MapNode, written: Static<typeof TemplateSchema>, factories: Factories) {
    this.#root = root;
    this.#written = written;
    this.#factories = factories;
  }

  read(): Template {
    const { kind, type, description, stability } = this.#written;
    const configSchema = this.#parameters();
    const parameters = Object.keys(configSchema.properties);
    const { components, pipelines = {} } = this.#written;
    if ((components === undefined) === (this.#written.pipelines === undefined))
      this.#report(['components'], 'write components, or pipelines with a chain for each signal');
    if (this.#written.pipelines !== undefined && kind !== 'processor' && kind !== 'exporter')
      this.#report(['pipelines'], `only processors and exporters have pipelines: a ${kind} has components`);
    const parts = components === undefined ? [] : this.#parts(['components'], components, parameters);
    const chains = SIGNALS.flatMap((signal) => {
      const list: readonly object[] | undefined = pipelines[signal];
      return list === undefined
        ? []
        : [[signal, this.#parts(['pipelines', signal], list, parameters, signal)] as const];
    });
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
    return { kind, type, description, stability, configSchema, parts, pipelines: new Map(chains) };
  }

  #parameters(): TObject {
    const schema = {
      properties: {},
      ...this.#written.parameters,
      type: 'object',
      additionalProperties: false,
      default: {},
    } as unknown as TObject;
    try {
      checkSchema(schema, this.#root, ['nothing']);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#report(['parameters'], `is not a JSON Schema: ${reason}`);
      return schema;
    }
    this.#checkParameters(schema);
    return schema;
  }

  /** Required parameters must be declared, and defaults must match the types of their parameters. */
  #checkParameters(schema: TObject): void {
    const properties = schema.properties as Readonly<Record<string, { readonly default?: unknown }>>;
    const names = Object.keys(properties);
    const { required } = this.#written.parameters as { readonly required?: readonly string[] };
    required?.forEach((name, index) => {
      if (!names.includes(name))
        this.#report(
          ['parameters', 'required', String(index)],
          `there is no parameter "${name}"${suggestion(name, names)}`,
        );
    });
    for (const [name, one] of Object.entries(properties)) {
      const path = ['parameters', 'properties', name, 'default'];
      if (one.default === undefined || nodeAt(this.#root, path) === undefined) continue;
      this.#problems.push(...checkSchema(one, this.#root, path).problems);
    }
  }

  /** @param signal that all of them must support; absent: any */
  #parts(
    at: readonly string[],
    components: readonly object[],
    parameters: readonly string[],
    signal?: Signal,
  ): readonly TemplatePart[] {
    const { length } = components;
    if (this.#written.kind === 'extension' && length > 1)
      this.#report(at, 'an extension template needs exactly one component');
    return components.flatMap((component, index) => {
      const [type = ''] = Object.keys(component);
      const path = [...at, String(index), type];
      const kind = kindAt(this.#written.kind, index, length);
      const factory = this.#factories.find(kind, type);
      const node = nodeAt(this.#root, path);
      if (!factory || !node) {
        const hint = suggestion(type, this.#factories.types(kind));
        this.#report(path, `there is no ${kind} of type "${type}"${hint}`);
        return [];
      }
      if (signal !== undefined && !signalsOf(factory).includes(signal))
        this.#report(path, `${kind} "${type}" is not for ${signal}`);
      for (const name of parametersIn(node))
        if (!parameters.includes(name))
          this.#report(
            path,
            `uses \${param.${name}}, which is not a parameter${suggestion(name, parameters)}`,
          );
      return [{ factory, node, position: locate(this.#root, path) }];
    });
  }

  #report(path: readonly string[], message: string): void {
    this.#problems.push({ severity: 'error', position: locate(this.#root, path), path, message });
  }
}

/** A receiver comes first, an exporter last; components between them are processors. */
function kindAt(kind: Kind, index: number, length: number): Kind {
  if (kind === 'receiver') return index === 0 ? 'receiver' : 'processor';
  if (kind === 'exporter') return index === length - 1 ? 'exporter' : 'processor';
  return kind;
}

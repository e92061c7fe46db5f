import { formatComponentId, parseComponentId } from '../component/component-id.js';
import type { Kind } from '../component/component-id.js';
import type { CheckedConfig, Config, ConfiguredComponent, Factories, FactoryOf } from './config.js';
import { ConfigError, type Problem } from './config-error.js';
import { locate, nodeAt, type MapNode } from './config-node.js';
import {
  AuthSchema,
  COMPONENT_SECTIONS,
  PluginsSchema,
  SecretsSchema,
  ServiceSchema,
  SmtpSchema,
  type AuthConfig,
  type PipelineConfig,
  type SecretsConfig,
  type ServiceConfig,
  type SmtpConfig,
} from './file-schema.js';
import { suggestion } from './nearest-name.js';
import { checkOwnTelemetry } from './own-telemetry.js';
import { formatConfig, type FormattedPart } from './format-config.js';
import { memorySettings } from './memory.js';
import { checkSchema, segmentsOf, type Checked } from './schema-check.js';
import { checkSmtp, smtpSettings } from './smtp.js';

const OWN_SECTIONS = ['plugins', 'auth', 'secrets', 'smtp', 'service'];

/**
 * @returns the plugins to load and the place of each.
 * @throws ConfigError if the section is not a list of texts.
 */
export function readPlugins(
  root: MapNode,
): readonly { readonly specifier: string; readonly path: readonly string[]; readonly file: string }[] {
  if (!root.entries.has('plugins')) return [];
  const { value, problems } = checkSchema(PluginsSchema, root, ['plugins']);
  if (problems.length > 0) throw new ConfigError(problems);
  return (value as readonly string[]).map((specifier, index) => {
    const path = ['plugins', String(index)];
    return { specifier, path, file: locate(root, path).file };
  });
}

/** Checks every section separately: names, types, values, defaults. Reports all errors. */
export function checkConfig(root: MapNode, factories: Factories): CheckedConfig {
  const problems: Problem[] = [...unknownSections(root)];
  const secrets: string[] = [];
  const printed: FormattedPart[] = [];
  const own = <Value>(
    schema: object,
    section: string,
    rules: (value: Value) => readonly { readonly path: string; readonly message: string }[] = () => [],
  ): Value => {
    const checked = checkSchema(schema, root, [section]);
    const value = checked.value as Value;
    problems.push(...checked.problems);
    secrets.push(...checked.secrets);
    printed.push({ path: [section], value, schema, secrets: checked.secrets });
    const broken = checked.problems.length > 0 ? [] : rules(value);
    problems.push(...broken.map((rule) => brokenRule(root, [section], rule)));
    return value;
  };
  const auth = own<AuthConfig>(AuthSchema, 'auth');
  const secretKeeping = own<SecretsConfig>(SecretsSchema, 'secrets');
  const smtp = own<SmtpConfig>(SmtpSchema, 'smtp', checkSmtp);
  const written = own<ServiceConfig>(ServiceSchema, 'service', ({ telemetry }) =>
    checkOwnTelemetry(telemetry.otlp).map(({ path, message }) => ({
      path: `/telemetry/otlp${path}`,
      message,
    })),
  );
  const section = <K extends Kind>(kind: K) => {
    const found = checkComponents(kind, root, factories);
    problems.push(...found.problems);
    secrets.push(...found.secrets);
    printed.push(...found.printed);
    return found.components;
  };
  if (root.entries.has('plugins')) own(PluginsSchema, 'plugins');
  const components: Config['components'] = {
    receiver: section('receiver'),
    processor: section('processor'),
    exporter: section('exporter'),
    extension: section('extension'),
  };
  const service = soundParts(written, problems);
  const config = service && {
    auth,
    service,
    components,
    secretKeeping,
    smtp: smtpSettings(smtp),
    secrets,
    print: () => formatConfig(root, inOrder(printed)),
    memory: printed.flatMap(({ path, value, schema }) => memorySettings(path, value, schema)),
    locate: (path: readonly string[]) => locate(root, path),
    has: (path: readonly string[]) => nodeAt(root, path) !== undefined,
  };
  return { config, problems };
}

/** As a file has them; components in the order in which they are written. */
function inOrder(parts: readonly FormattedPart[]): readonly FormattedPart[] {
  const sections = ['plugins', 'auth', 'secrets', 'smtp', ...Object.values(COMPONENT_SECTIONS), 'service'];
  const place = ({ path: [section = ''] }: FormattedPart): number => sections.indexOf(section);
  return parts.toSorted((a, b) => place(a) - place(b));
}

/** The parts of the service section that can be planned despite errors, so that all errors are reported at once. */
function soundParts(service: ServiceConfig, problems: readonly Problem[]): ServiceConfig | undefined {
  const isBroken = (path: readonly string[], canBeInside = true) =>
    problems.some(
      (problem) =>
        (canBeInside || problem.path.length === path.length) &&
        path.every((key, index) => problem.path[index] === key),
    );
  if (isBroken(['service'], false) || isBroken(['service', 'pipelines'], false)) return undefined;
  if (isBroken(['service', 'extensions'])) return undefined;
  const pipelines = Object.entries(service.pipelines).flatMap(([name, pipeline]) => {
    const path = ['service', 'pipelines', name];
    if (isBroken(path, false)) return [];
    // A broken or missing list must not hide errors in the others.
    const sound = (key: keyof PipelineConfig) => (isBroken([...path, key]) ? [] : pipeline[key]);
    return [
      [
        name,
        { receivers: sound('receivers'), processors: sound('processors'), exporters: sound('exporters') },
      ] as const,
    ];
  });
  return { ...service, pipelines: Object.fromEntries(pipelines) };
}

function unknownSections(root: MapNode): readonly Problem[] {
  const known = [...OWN_SECTIONS, ...Object.values(COMPONENT_SECTIONS)];
  return [...root.entries]
    .filter(([key]) => !known.includes(key))
    .map(([key, { keyPosition }]) => ({
      severity: 'error',
      position: keyPosition,
      path: [key],
      message: `unknown section "${key}"${suggestion(key, known)}`,
    }));
}

/** A rule that the schema cannot express. @param rule with a path that begins in the section */
function brokenRule(
  root: MapNode,
  section: readonly string[],
  rule: { readonly path: string; readonly message: string },
): Problem {
  const path = [...section, ...segmentsOf(rule.path)];
  return { severity: 'error', position: locate(root, path), path, message: rule.message };
}

/** Checks the components of one kind by themselves. */
export function checkComponents<K extends Kind>(kind: K, root: MapNode, factories: Factories) {
  const problems: Problem[] = [];
  const secrets: string[] = [];
  const printed: FormattedPart[] = [];
  const components = new Map<string, ConfiguredComponent<FactoryOf<K>>>();
  const section = COMPONENT_SECTIONS[kind];
  const node = nodeAt(root, [section]);
  const report = (path: readonly string[], message: string) =>
    problems.push({ severity: 'error', position: locate(root, path), path, message });
  if (node?.kind === 'list' || (node?.kind === 'scalar' && node.value !== null))
    report([section], `must be a map of ${section} by their ids`);
  if (node?.kind !== 'map') return { components, problems, secrets, printed };

  for (const key of node.entries.keys()) {
    const path = [section, key];
    const parsed = parseComponentId(key);
    if (!parsed) {
      report(path, `"${key}" is not an id: write the type, or type/name`);
      continue;
    }
    const factory = factories.find(kind, parsed.type);
    if (!factory) {
      report(
        path,
        `there is no ${kind} of type "${parsed.type}"${suggestion(parsed.type, factories.types(kind))}`,
      );
      continue;
    }
    let checked: Checked;
    try {
      checked = checkSchema(factory.configSchema, root, path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report(path, `${kind} "${parsed.type}" has a configSchema that is not a JSON Schema: ${reason}`);
      continue;
    }
    problems.push(...checked.problems);
    const config = checked.value as Record<string, unknown>;
    const broken = checked.problems.length > 0 ? [] : (factory.check?.(config) ?? []);
    problems.push(...broken.map((rule) => brokenRule(root, path, rule)));
    const isValid = checked.problems.length === 0 && broken.length === 0;
    const own = [...checked.secrets, ...(isValid ? (factory.secrets?.(config) ?? []) : [])];
    secrets.push(...own);
    printed.push({ path, value: config, schema: factory.configSchema, secrets: own });
    const position = locate(root, path);
    components.set(key, { kind, id: formatComponentId(parsed), factory, position, config, isValid });
  }
  return { components, problems, secrets, printed };
}

export type Kind = 'receiver' | 'processor' | 'exporter' | 'extension';

/** `type` or `type/name`, as written in the configuration: `otlp`, `storage/archive`. */
export interface ComponentId {
  readonly type: string;
  /** Empty for a plain `type`. */
  readonly name: string;
}

const ID = /^([a-zA-Z][0-9a-zA-Z_]{0,62})(?:\/(.{1,255}))?$/;

/** @returns the parts of an id, or undefined if the text is not one. */
export function parseComponentId(text: string): ComponentId | undefined {
  const found = ID.exec(text);
  return found?.[1] === undefined ? undefined : { type: found[1], name: found[2] ?? '' };
}

export function formatComponentId(id: ComponentId): string {
  return id.name === '' ? id.type : `${id.type}/${id.name}`;
}

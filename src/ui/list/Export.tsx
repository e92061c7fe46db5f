import { Download } from 'lucide-react';
import { useState } from 'react';
import parts from '../parts/parts.module.css';
import { Popover } from '../parts/Popover.js';
import { FILE_TYPES, tableFile, type FileFormat } from './table-file.js';

/** What a list exports. */
export interface Exported {
  /** Name of the file without its extension. */
  readonly name: string;
  /** Describes the rows. */
  readonly about: string;
  /** @throws ApiError */
  readonly read: (format: FileFormat) => Promise<Blob>;
}

/** Pages of a list that an export loads at most, of {@link PAGE_ROWS} rows each. */
const MAX_PAGES = 50;
export const PAGE_ROWS = 100;

/** Exports all pages of a list for which the API has no file. @param load loads a page */
export function exportedPages(
  name: string,
  load: (page: number) => Promise<{ readonly items: readonly object[]; readonly has_more: boolean }>,
): Exported {
  return {
    name,
    about: `All rows that match the filters, at most ${String(MAX_PAGES * PAGE_ROWS)}, with times in UTC.`,
    read: async (format) => {
      const rows: object[] = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const { items, has_more } = await load(page);
        rows.push(...items);
        if (!has_more) break;
      }
      return fileOf(format, rows);
    },
  };
}

/** Rows as a file. */
export function fileOf(format: FileFormat, rows: readonly object[]): Blob {
  return new Blob([tableFile(format, rows)], { type: FILE_TYPES[format] });
}

/** Downloads a file. */
export function saveFile(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Exports a list as a file. */
export function Export({ exported: { name, about, read } }: { readonly exported: Exported }) {
  const [progress, setProgress] = useState('');
  const save = async (format: FileFormat): Promise<void> => {
    setProgress('Saving…');
    try {
      saveFile(`${name}.${format}`, await read(format));
      setProgress('');
    } catch (error) {
      setProgress(error instanceof Error ? error.message : 'Could not save.');
    }
  };
  return (
    <Popover icon={Download} label="Export">
      {() => (
        <>
          {(Object.keys(FILE_TYPES) as readonly FileFormat[]).map((format) => (
            <button key={format} type="button" className={parts['button']} onClick={() => void save(format)}>
              {format.toUpperCase()}
            </button>
          ))}
          <small className={parts['faint']}>{about}</small>
          <small role="status">{progress}</small>
        </>
      )}
    </Popover>
  );
}

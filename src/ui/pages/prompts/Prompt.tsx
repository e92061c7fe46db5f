import { Link } from 'wouter';
import { ApiError } from '../../api/client.js';
import { formatCounted } from '../../format/number.js';
import { TextDiff } from '../../messages/TextDiff.js';
import { Choice } from '../../parts/Choice.js';
import { Count, Duration, Money, Percentage, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { usePrompt, type PromptVersion } from './load.js';
import { PromptSeries } from './PromptSeries.js';
import { VersionFigures } from './VersionFigures.js';
import styles from './Prompt.module.css';

/** 0: the newest version, and the one before it. */
const STATE = { a: integer(0, 0), b: integer(0, 0) };

/** The versions of a prompt, how runs went that used them, and what two of them differ in. @param name of the prompt */
export default function Prompt({ name }: { readonly name: string }) {
  const [{ a, b }, change] = useUrlState(STATE);
  const { data, error, refetch } = usePrompt(name);
  if (error instanceof ApiError && [404, 422].includes(error.status))
    return (
      <Empty title="Prompt not found" isPage>
        <title>No such prompt · Jackdaw</title>
        <p>
          It may belong to another user. <Link href="/prompts">All prompts</Link>
        </p>
      </Empty>
    );
  if (error && !data) return <Failure isPage error={error} retry={() => void refetch()} />;
  const versions = data ?? [];
  const after = versions.find(({ version }) => version === b) ?? versions[0];
  const before =
    versions.find(({ version }) => version === a) ?? versions[after ? versions.indexOf(after) + 1 : 0];
  return (
    <div className={parts['page']}>
      <title>{`${name} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>{name}</h1>
        <ZoneNote />
        <Link href={`/runs?prompt=${encodeURIComponent(name)}&kind=all`}>Runs that used it</Link>
      </div>
      {data === undefined || !after ? (
        <TableSkeleton />
      ) : (
        <>
          <Versions name={name} versions={versions} />
          <PromptSeries name={name} />
          <section className={styles['compare']} aria-label="Two versions">
            <div className={parts['head']}>
              <h2>{before ? `Version ${String(before.version)} and ${String(after.version)}` : 'Text'}</h2>
              {versions.length > 1 && before && (
                <>
                  <Choice
                    label="From"
                    value={String(before.version)}
                    options={namesOf(versions)}
                    onChange={(version) => {
                      change({ a: Number(version), b: after.version });
                    }}
                  />
                  <Choice
                    label="To"
                    value={String(after.version)}
                    options={namesOf(versions)}
                    onChange={(version) => {
                      change({ a: before.version, b: Number(version) });
                    }}
                  />
                </>
              )}
            </div>
            {before && <VersionFigures before={before} after={after} />}
            {before && before.template_text === after.template_text && (
              <p className={parts['faint']}>The text is the same in both.</p>
            )}
            <TextDiff
              before={(before ?? after).template_text}
              after={after.template_text}
              label="Text of the prompt"
            />
          </section>
        </>
      )}
    </div>
  );
}

function namesOf(versions: readonly PromptVersion[]): Readonly<Record<string, string>> {
  return Object.fromEntries(versions.map(({ version }) => [String(version), `v${String(version)}`]));
}

function Versions({
  name,
  versions,
}: {
  readonly name: string;
  readonly versions: readonly PromptVersion[];
}) {
  return (
    <div className={parts['tableWrap']} role="group" aria-label="Versions" tabIndex={0}>
      <table className={parts['table']}>
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Description</th>
            <th scope="col" className={parts['number']}>
              Runs
            </th>
            <th scope="col" className={parts['number']} title="Of the runs that say whether they succeeded">
              Success
            </th>
            <th scope="col" className={parts['number']}>
              Cost per run
            </th>
            <th scope="col" className={parts['number']}>
              Mean duration
            </th>
            <th scope="col" className={parts['number']}>
              p95
            </th>
            <th scope="col" className={parts['number']}>
              Created
            </th>
          </tr>
        </thead>
        <tbody>
          {versions.map(({ version, description, created_at, figures }) => (
            <tr key={version}>
              <td>
                <Link href={`/runs?prompt=${encodeURIComponent(name)}&pv=${String(version)}&kind=all`}>
                  v{version}
                </Link>
              </td>
              <td className={parts['wide']}>{description}</td>
              <td className={parts['number']} title={formatCounted(figures.total_traces, 'run')}>
                <Count value={figures.total_traces} missing="" />
              </td>
              <td className={parts['number']}>
                <Percentage
                  value={figures.success_rate === null ? null : 100 * figures.success_rate}
                  missing="No run says whether it succeeded"
                />
              </td>
              <td className={parts['number']}>
                <Money value={figures.avg_cost_usd} missing="No run has a cost" />
              </td>
              <td className={parts['number']}>
                <Duration value={figures.avg_latency_ms} missing="No run has ended" />
              </td>
              <td className={parts['number']}>
                <Duration value={figures.p95_latency_ms} missing="No run has ended" />
              </td>
              <td className={parts['number']}>
                <Time at={created_at} relative />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

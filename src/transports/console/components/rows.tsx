import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

export interface Row {
  key: string;
  /** Id of the element, for lists that are live. */
  id?: string;
  /** An icon or one or two letters. */
  mark?: ComponentChildren;
  title: ComponentChildren;
  text?: ComponentChildren;
  /** Badges and buttons. */
  side?: ComponentChildren;
}

/** A list of items with their actions. */
export function Rows({ label, rows, id }: { label: string; rows: readonly Row[]; id?: string }) {
  return (
    <ul class="rows" aria-label={label} id={id}>
      {rows.map(({ key, id: rowId, mark, title, text, side }) => (
        <li class="row" key={key} id={rowId}>
          {mark !== undefined && (
            <span class="mark" aria-hidden="true">
              {mark}
            </span>
          )}
          <div class="row-text">
            <div class="row-title">{title}</div>
            {text !== undefined && <div class="row-hint">{text}</div>}
          </div>
          {side !== undefined && <div class="row-side">{side}</div>}
        </li>
      ))}
    </ul>
  );
}

/** The parts that are there, with a dot between them. */
export function Dots({ of: parts }: { of: readonly ComponentChildren[] }) {
  const shown = parts.filter((part) => part !== null && part !== undefined && part !== false && part !== '');
  return <>{shown.map((part, index) => [index > 0 && ' · ', part])}</>;
}

interface NextPageProps {
  /** Path of the list. */
  path: string;
  /** Query of the next page; undefined, or with an undefined value, on the last page. */
  next: Readonly<Record<string, string | undefined>> | undefined;
  /** Plural name of the items, such as "agents". */
  noun: string;
}

/** A link to the next page of a list, if there is one. */
export function NextPage({ path, next, noun }: NextPageProps) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next ?? {})) {
    if (value === undefined) return null;
    query.set(name, value);
  }
  if (query.size === 0) return null;
  return (
    <p class="next-page">
      <a href={`${path}?${query.toString()}`} rel="next">
        More {noun} <Icon name="arrow" />
      </a>
    </p>
  );
}

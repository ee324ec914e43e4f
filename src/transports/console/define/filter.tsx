import { isHandle } from '../../../../packages/core/src/domain/agents/handles.ts';
import { Button, ButtonLink } from '../components/form.tsx';
import { type FieldDefinitions, Fields } from './fields.tsx';
import { type PageVisit, type Per, type Section, valueFor } from './section.ts';

export interface FilterDefinition<V extends PageVisit> {
  fields: Per<V, FieldDefinitions>;
  /** What the address asks for, by field. */
  values(visit: V): Readonly<Record<string, string | undefined>>;
  errors?(visit: V): Readonly<Record<string, string>>;
  isShown?(visit: V): boolean;
}

/** The handle that a filter names; without a valid one, the text in its place. */
export function readHandle(query: URLSearchParams, name: string) {
  const entered = (query.get(name) ?? '').trim().replace(/^@/, '').toLowerCase();
  return isHandle(entered) ? { handle: entered } : { wrong: entered || undefined };
}

/** The error of the field of a handle. */
export const wrongHandleText = 'must be a handle such as owner.agent';

/** The filters of a page. They send a GET request, so that the address can be kept. */
export function filterSection<V extends PageVisit>(definition: FilterDefinition<V>): Section<V> {
  const { isShown } = definition;
  return {
    show(visit) {
      if (isShown && !isShown(visit)) return null;
      const values = definition.values(visit);
      const isFiltered = Object.values(values).some(Boolean);
      return (
        <form method="get" action={visit.address} class="filter-bar" role="search" aria-label="Filter">
          <Fields
            fields={valueFor(definition.fields, visit)}
            values={values}
            errors={definition.errors?.(visit) ?? {}}
          />
          <div class="actions">
            <Button kind="quiet">Show</Button>
            {isFiltered && <ButtonLink href={visit.address}>Show all</ButtonLink>}
          </div>
        </form>
      );
    },
  };
}

import { Card } from '../components/content.tsx';
import { Button, ButtonLink } from '../components/form.tsx';
import { type FieldDefinitions, Fields } from './fields.tsx';
import { type PageVisit, type Per, type Section, valueFor } from './section.ts';

export interface FilterDefinition<V extends PageVisit> {
  fields: Per<V, FieldDefinitions>;
  /** What the address asks for, by field. */
  values(visit: V): Readonly<Record<string, string | undefined>>;
  errors?(visit: V): Readonly<Record<string, string>>;
  isShown?(visit: V): boolean;
  /** Of the card around it. Absent: there is none. */
  title?: string;
}

/** The filters of a page. They send a GET request, so that the address can be kept. */
export function filterSection<V extends PageVisit>(definition: FilterDefinition<V>): Section<V> {
  const { title, isShown } = definition;
  return {
    show(visit) {
      if (isShown && !isShown(visit)) return null;
      const values = definition.values(visit);
      const isFiltered = Object.values(values).some(Boolean);
      const fields = (
        <Fields
          fields={valueFor(definition.fields, visit)}
          values={values}
          errors={definition.errors?.(visit) ?? {}}
        />
      );
      const content = (
        <form
          method="get"
          action={visit.address}
          class={title === undefined ? 'filter-bar' : 'stack'}
          role="search"
          aria-label="Filter"
        >
          {fields}
          <div class="actions">
            <Button kind="quiet">{title ?? 'Show'}</Button>
            {title === undefined && isFiltered && <ButtonLink href={visit.address}>Show all</ButtonLink>}
          </div>
        </form>
      );
      return title === undefined ? content : <Card title={title}>{content}</Card>;
    },
  };
}

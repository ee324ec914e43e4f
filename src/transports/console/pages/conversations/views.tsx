import { removeView, type SavedView, saveView } from '../../../../services/people/saved-views.ts';
import { Button, Form, PostButton } from '../../components/form.tsx';
import { Field } from '../../components/field.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { action } from '../../route.ts';
import { conversationsAddress, type ListQuery, readListQuery } from './filters.tsx';

const path = `${conversationsAddress}/views`;

interface SavedViewsProps {
  views: readonly SavedView[];
  query: ListQuery;
}

/** The filters that the person has saved, as links, and the form that saves or removes those of this page. */
export function SavedViews({ views, query: { kept } }: SavedViewsProps) {
  const query = new URLSearchParams(kept).toString();
  const current = views.find((view) => view.query === query);
  if (views.length === 0 && query === '') return null;
  return (
    <div class="chips" role="group" aria-label="Saved views">
      {views.map((view) => (
        <a
          class="chip"
          href={`${conversationsAddress}?${view.query}`}
          aria-current={view === current ? 'true' : undefined}
          key={view.name}
        >
          <bdi>{view.name}</bdi>
        </a>
      ))}
      {current && <PostButton label="Remove view" action={`${path}/remove`} hidden={{ ...current }} />}
      {!current && query !== '' && (
        <details class="chip-details">
          <summary class="chip">Save view</summary>
          <Form action={path} class="filter-bar" hidden={{ query }} redirects>
            <Field name="name" label="Name of the view" maxlength={40} required />
            <Button>Save</Button>
          </Form>
        </details>
      )}
    </div>
  );
}

/** Saves and removes views. The notice restores a removed one. */
export const viewActions = [
  action(path, ({ person, form, write }) => {
    const query = new URLSearchParams(readListQuery(new URLSearchParams(form.get('query') ?? '')).kept);
    return redirectOrWarn(`${conversationsAddress}?${query.toString()}`, async () => {
      const view = { name: form.get('name') ?? '', query: query.toString() };
      return `Saved the view “${await write(saveView, person.account_id, view)}”.`;
    });
  }),
  action(`${path}/remove`, async ({ person, form, write }) => {
    const hidden = { name: form.get('name') ?? '', query: form.get('query') ?? '' };
    await write(removeView, person.account_id, hidden.name);
    return { to: conversationsAddress, flash: 'Removed the view.', undo: { action: path, hidden } };
  }),
];

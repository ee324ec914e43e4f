import { type ComponentChildren, h } from 'preact';
import { Card, ErrorNotice, Heading } from '../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../components/form.tsx';
import { type FormErrors, formPage, redirectOrWarn } from '../form-errors.ts';
import {
  action,
  type Answer,
  type ConsoleRoute,
  page,
  type PersonVisit,
  type Redirect,
  type ShownPage,
} from '../route.ts';

/** A request to a page that is defined as data. */
export interface PageVisit extends PersonVisit {
  /** The path of the page, with its parameters filled in. */
  address: string;
}

/** A value, or what computes it for a request. */
export type Per<V, T> = T | ((visit: V) => T);

/** The value for a request. */
export function valueFor<V, T>(value: Per<V, T>, visit: V): T {
  return typeof value === 'function' ? (value as (visit: V) => T)(visit) : value;
}

/** A form that was not accepted. The page shows it again. */
export interface Submitted {
  /** The name of the form. */
  form: string;
  entered: Readonly<Record<string, unknown>>;
  errors?: FormErrors;
  /** Whether the page has the error of the whole form above its sections. */
  isErrorShown?: boolean;
}

type Show<V> = (visit: V, submitted: Submitted | undefined) => ComponentChildren | Promise<ComponentChildren>;

/** A part of a page. */
export interface Section<V> {
  show: Show<V>;
  /** The form of the section. */
  form?: {
    /** The part of its path after that of the page; empty: the path of the page. */
    name: string;
    maxFormBytes?: number | undefined;
    submit(visit: V, again: (submitted: Submitted) => Promise<ShownPage>): Promise<Answer>;
  };
}

/** A change from a button. Returns the message for the page that follows. Its errors are shown there too. */
export type Change<V> = (visit: V) => Promise<string | Redirect | ShownPage>;

export interface PageDefinition<V extends PageVisit> {
  path: string;
  /** Reads what the whole page needs. @throws {DomainError} if the person may not see it */
  load(visit: PageVisit): V | Promise<V>;
  title: Per<V, string>;
  /** Default: the title. */
  heading?(visit: V): ComponentChildren;
  lead?: Per<V, string | undefined>;
  /** The page above this one. */
  back?: Per<V, { href: string; text: string } | undefined>;
  /** Beside the heading. */
  action?(visit: V): ComponentChildren;
  /** The id of the frame around the page, for pages that are also shown over others. */
  frame?: string;
  sections: readonly (Section<V> | Show<V>)[];
  /** The changes of its buttons, each by its path after that of the page. */
  changes?: Readonly<Record<string, Change<V>>>;
}

/** The routes of a page: the page, its forms and its buttons. */
export function definePage<V extends PageVisit>(definition: PageDefinition<V>): ConsoleRoute[] {
  const { path, changes = {} } = definition;
  const sections = definition.sections.map((section) =>
    typeof section === 'function' ? { show: section } : section,
  );
  const forms = sections.flatMap(({ form }) => (form ? [form] : []));
  const load = async (visit: PersonVisit) => definition.load({ ...visit, address: addressOf(path, visit) });

  async function show(visit: V, submitted?: Submitted): Promise<ShownPage> {
    const { title, heading } = definition;
    const isErrorShown = forms.length > 1;
    const state = submitted && { ...submitted, isErrorShown };
    const contents = await Promise.all(sections.map(async (section) => section.show(visit, state)));
    const body = (
      <>
        {heading ? heading(visit) : <DefaultHeading definition={definition} visit={visit} />}
        {isErrorShown && <ErrorNotice {...submitted?.errors} />}
        {contents}
      </>
    );
    const framed = definition.frame === undefined ? body : <Frame id={definition.frame}>{body}</Frame>;
    return formPage(valueFor(title, visit), framed, submitted?.errors);
  }

  return [
    page(path, async (visit) => show(await load(visit))),
    ...forms.map(({ name, maxFormBytes, submit }) =>
      action(
        name === '' ? path : `${path}/${name}`,
        async (visit) => {
          const loaded = await load(visit);
          return submit(loaded, (submitted) => show(loaded, submitted));
        },
        maxFormBytes,
      ),
    ),
    ...Object.entries(changes).map(([name, change]) =>
      action(`${path}/${name}`, async (visit) => {
        const loaded = await load(visit);
        return redirectOrWarn(loaded.address, () => change(loaded));
      }),
    ),
  ];
}

/** The routes of a page about the person, which needs nothing else. */
export function personPage(definition: Omit<PageDefinition<PageVisit>, 'load'>): ConsoleRoute[] {
  return definePage({ ...definition, load: (visit) => visit });
}

function DefaultHeading<V extends PageVisit>(props: { definition: PageDefinition<V>; visit: V }) {
  const { definition, visit } = props;
  const { title, lead, back } = definition;
  return (
    <Heading
      title={valueFor(title, visit)}
      lead={valueFor(lead, visit)}
      back={valueFor(back, visit)}
      action={definition.action?.(visit)}
    />
  );
}

/** A part of a page that Turbo can load by itself. Its links lead to whole pages. */
export function Frame({ id, children }: { id: string; children: ComponentChildren }) {
  return h('turbo-frame', { id, target: '_top' }, children);
}

/** The path of a page for a request. */
function addressOf(path: string, { params }: PersonVisit): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

export interface ConfirmationDefinition<V extends PageVisit> {
  path: string;
  load(visit: PageVisit): V | Promise<V>;
  /** The question: "Remove ann.writer?" */
  title(visit: V): string;
  /** The consequences. */
  text(visit: V): ComponentChildren;
  button: Per<V, string>;
  /** The page to return to. */
  back(visit: V): string;
  change: Change<V>;
}

/** The routes of a page that asks before a change that cannot be undone. */
export function defineConfirmation<V extends PageVisit>(
  definition: ConfirmationDefinition<V>,
): ConsoleRoute[] {
  const { path, title, text, button, back, change } = definition;
  const load = async (visit: PersonVisit) => definition.load({ ...visit, address: addressOf(path, visit) });
  return [
    page(path, async (visit) => {
      const loaded = await load(visit);
      const body = (
        <>
          <Heading title={title(loaded)} />
          <Card tone="danger">
            <div class="prose">{text(loaded)}</div>
            <Form action={loaded.address}>
              <Actions>
                <Button kind="danger">{valueFor(button, loaded)}</Button>
                <ButtonLink href={back(loaded)}>Cancel</ButtonLink>
              </Actions>
            </Form>
          </Card>
        </>
      );
      return { title: title(loaded), body };
    }),
    action(path, async (visit) => {
      const loaded = await load(visit);
      return redirectOrWarn(back(loaded), () => change(loaded));
    }),
  ];
}

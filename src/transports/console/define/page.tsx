import { type ComponentChildren, h } from 'preact';
import { readLiveState } from '../../../services/people/live-pages.ts';
import { ErrorNotice, Heading } from '../components/content.tsx';
import { LiveRegion } from '../components/live-region.tsx';
import { formPage, redirectOrWarn } from '../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../route.ts';
import type { FieldDefinitions } from './fields.tsx';
import { type FilterDefinition, filterSection } from './filter.tsx';
import { type ButtonDefinition, buttonSection, type FormDefinition, formSection } from './form.tsx';
import { type ListDefinition, listSection } from './list.tsx';
import { liveRoute } from './live.ts';
import {
  type Change,
  type PageVisit,
  type Per,
  type Section,
  type Show,
  type Submitted,
  valueFor,
} from './section.ts';

/** What a definition reads for the whole page. Its functions get it with the visit. */
export interface Loading<Base, Extra> {
  /** @throws {DomainError} if the person may not see it */
  load?(visit: Base): Extra | Promise<Extra>;
}

/** The kinds of sections that are described as data. */
interface Sections<V extends PageVisit> {
  form<F extends FieldDefinitions>(definition: FormDefinition<V, F>): Section<V>;
  button(definition: ButtonDefinition<V>): Section<V>;
  list<T>(definition: ListDefinition<V, T>): Section<V>;
  filter(definition: FilterDefinition<V>): Section<V>;
}

const kinds = { form: formSection, button: buttonSection, list: listSection, filter: filterSection };

export interface PageDefinition<V extends PageVisit> {
  path: string;
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
  /** Whether the sections are kept up to date. Text fields that the reader has changed stay as they are. They must have no query named `cursor`. */
  isLive?: boolean;
  sections(kinds: Sections<V>): readonly (Section<V> | Show<V>)[];
  /** The changes of its buttons, each by its path after that of the page. */
  changes?: Readonly<Record<string, Change<V>>>;
}

/** The routes of a page: the page, its forms and its buttons. */
export function definePage<Extra extends object = object>(
  definition: Loading<PageVisit, Extra> & PageDefinition<PageVisit & Extra>,
): ConsoleRoute[] {
  type V = PageVisit & Extra;
  const { path, changes = {}, isLive = false } = definition;
  const sections: Section<V>[] = definition
    .sections(kinds)
    .map((section) => (typeof section === 'function' ? { show: section } : section));
  const forms = sections.flatMap(({ form }) => (form ? [form] : []));
  const load = loaderOf(definition);

  const render = (visit: V, submitted?: Submitted) =>
    Promise.all(sections.map(async (section) => section.show(visit, submitted)));

  async function show(visit: V, submitted?: Submitted, cursor?: string): Promise<ShownPage> {
    const { title, heading, lead, back } = definition;
    const isErrorShown = forms.length > 1;
    const contents = await render(visit, submitted && { ...submitted, isErrorShown });
    const shownTitle = valueFor(title, visit);
    const live = `${livePathOf(visit.address)}?${visit.query}`;
    const body = (
      <>
        {heading ? (
          heading(visit)
        ) : (
          <Heading
            title={shownTitle}
            lead={valueFor(lead, visit)}
            back={valueFor(back, visit)}
            action={definition.action?.(visit)}
          />
        )}
        {isErrorShown && <ErrorNotice {...submitted?.errors} />}
        <LiveRegion id={liveId} address={live} cursor={cursor} label={shownTitle}>
          {contents}
        </LiveRegion>
      </>
    );
    const framed = definition.frame === undefined ? body : <Frame id={definition.frame}>{body}</Frame>;
    return formPage(shownTitle, framed, submitted?.errors);
  }

  async function showLive(visit: PersonVisit): Promise<ShownPage> {
    // Before the sections: what comes in between is sent again.
    const state = await visit.read(readLiveState, visit.person);
    return show(await load(visit), undefined, state?.cursor);
  }

  return [
    page(path, isLive ? showLive : async (visit) => show(await load(visit))),
    ...(isLive
      ? [
          liveRoute(livePathOf(path), liveId, async (visit) => ({
            content: await render(await load(visit)),
          })),
        ]
      : []),
    ...forms.map(({ name, maxFormBytes, takesFiles, submit }) =>
      action(
        name === '' ? path : `${path}/${name}`,
        async (visit) => {
          const loaded = await load(visit);
          return submit(loaded, (submitted) => show(loaded, submitted));
        },
        maxFormBytes,
        takesFiles,
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

const liveId = 'live';

/** The path of the stream of a live page. */
const livePathOf = (path: string) => path.replace('/console/', '/console/live/');

/** A part of a page that Turbo can load by itself. Its links lead to whole pages. */
export function Frame({ id, children }: { id: string; children: ComponentChildren }) {
  return h('turbo-frame', { id, target: '_top' }, children);
}

function loaderOf<Extra extends object>({ path, load }: Loading<PageVisit, Extra> & { path: string }) {
  return async (request: PersonVisit): Promise<PageVisit & Extra> => {
    const parameter = (_: string, name: string) => encodeURIComponent(request.params[name] ?? '');
    const visit = { ...request, address: path.replaceAll(/:(\w+)/g, parameter) };
    return { ...visit, ...((await load?.(visit)) ?? ({} as Extra)) };
  };
}

export interface ConfirmationDefinition<V extends PageVisit> {
  path: string;
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
export function defineConfirmation<Extra extends object = object>(
  definition: Loading<PageVisit, Extra> & ConfirmationDefinition<PageVisit & Extra>,
): ConsoleRoute[] {
  const { title, text, button, back, change, ...given } = definition;
  return definePage<Extra>({
    ...given,
    title,
    sections: (sections) => [
      sections.button({
        name: '',
        tone: 'danger',
        text: (visit) => <div class="prose">{text(visit)}</div>,
        button,
        kind: 'danger',
        back,
        submit: change,
      }),
    ],
  });
}

import { findAll, getAttributeValue, textContent } from 'domutils';
import { parseDocument } from 'htmlparser2';

type Element = ReturnType<typeof findAll>[number];

/** A form as it stands on a page. */
export interface PageForm {
  action: string;
  /** What it sends without being filled in: hidden fields, values, what is chosen. The button is not among it. */
  fields: [name: string, value: string][];
  buttons: PageButton[];
}

interface PageButton {
  name: string | undefined;
  value: string;
  text: string;
  /** Where it sends the form, if not to its action. */
  action?: string | undefined;
}

export interface PageResponse {
  status: number;
  url: string;
  headers: Headers;
  text: string;
  title: string;
  /** Those that change something; one that only searches is a link with fields. */
  forms: PageForm[];
  /** Where its links lead. */
  links: string[];
  /** The next page of a list, if there is one. */
  next: string | undefined;
  /** Every element of a name. */
  elements(name: string): Element[];
  /** What a person reads, without the names of elements. */
  visibleText: string;
}

export interface BrowserRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | FormData;
  /** Whether to go where the answer sends the browser, as long as that is in this service; true unless told otherwise. */
  follow?: boolean;
}

export interface FormInput {
  /** Over what the form holds already; `null` leaves a field out. */
  fields?: Record<string, string | null>;
  /** Text, or value, of the button that is pressed. */
  button?: string;
  /** The form is sent as multipart/form-data, with these files at its end. */
  files?: readonly File[];
  headers?: Record<string, string>;
  follow?: boolean;
}

/** A browser without scripts and pictures: keeps cookies, follows redirects within the service, reads forms and fills them in. */
export function openFormBrowser(serviceUrl: string) {
  const cookies = new Map<string, { value: string; path: string }>();

  function cookieHeader(path: string): string {
    const fitting = [...cookies].filter(([, cookie]) => path.startsWith(cookie.path));
    return fitting.map(([name, { value }]) => `${name}=${value}`).join('; ');
  }

  function keepCookies(response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
      const expires = attributes.find((each) => /^expires=/i.test(each))?.slice(8);
      if (expires !== undefined && Date.parse(expires) < Date.now()) cookies.delete(name);
      else cookies.set(name, { value, path });
    }
  }

  async function go(address: string, request: BrowserRequest = {}): Promise<PageResponse> {
    const url = new URL(address, serviceUrl);
    const { follow = true, method = 'GET', body } = request;
    const cookie = cookieHeader(url.pathname);
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { Accept: 'text/html', ...(cookie && { Cookie: cookie }), ...request.headers },
      ...(body !== undefined && { body }),
    });
    keepCookies(response);
    const location = response.headers.get('Location');
    const next = location === null ? null : new URL(location, url);
    if (follow && next && isHere(next)) return go(next.pathname + next.search);
    return readPage(response, url.href);
  }

  /** The public address of a test's service need not be the one that it listens at. */
  function isHere(url: URL): boolean {
    return url.origin === new URL(serviceUrl).origin || url.origin === 'http://localhost:3000';
  }

  async function send(form: PageForm, filling: FormInput = {}): Promise<PageResponse> {
    const { fields = {}, button, files, headers, follow } = filling;
    const isPressed = button === undefined ? hasNoAction : matchesButton(button);
    const pressed = form.buttons.find(isPressed);
    if (button !== undefined && !pressed) throw new Error(`there is no button ${button}`);
    const kept = form.fields.filter(([name]) => !Object.hasOwn(fields, name));
    const changes = Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [[name, value]],
    );
    const own = pressed?.name === undefined ? [] : [[pressed.name, pressed.value]];
    const entries = [...kept, ...changes, ...own] as [string, string][];
    return go(pressed?.action ?? form.action, {
      method: 'POST',
      headers: {
        ...(!files && { 'Content-Type': 'application/x-www-form-urlencoded' }),
        Origin: new URL(serviceUrl).origin,
        'Sec-Fetch-Site': 'same-origin',
        ...headers,
      },
      body: files ? withFiles(entries, files) : new URLSearchParams(entries).toString(),
      ...(follow !== undefined && { follow }),
    });
  }

  /** Opens a page and sends its form that goes to `action`. Default: the form of the page itself, or its first. */
  async function fill(address: string, filling: FormInput = {}, action?: string): Promise<PageResponse> {
    const page = await go(address);
    const own = page.forms.find((form) => form.action === address.replace(/\?.*/, ''));
    return send(action === undefined && own ? own : findForm(page, action), filling);
  }

  return {
    cookies,
    go,
    send,
    fill,
    signUp: (username: string, password: string, to = '/console') =>
      fill(`/sign-up?${new URLSearchParams({ to }).toString()}`, { fields: { username, password } }),
    signIn: (username: string, password: string, to = '/console') =>
      fill(`/sign-in?${new URLSearchParams({ to }).toString()}`, { fields: { username, password } }),
    /** Approves on the page on which a person decides; as the agent that is chosen there, unless one is named. */
    approve: (page: PageResponse, agent_id?: string) =>
      send(findForm(page, new URL(page.url).pathname), {
        button: 'approve',
        ...(agent_id !== undefined && { fields: { agent_id } }),
      }),
    async signOut() {
      return send(findForm(await go('/console'), '/sign-out'));
    },
  };
}

export type FormBrowser = ReturnType<typeof openFormBrowser>;

/** The form of a page that goes to `action`; without one, the first. */
export function findForm(page: PageResponse, action?: string): PageForm {
  const found = page.forms.find((form) => action === undefined || form.action === action);
  if (!found)
    throw new Error(
      `${page.url} (${page.status}) has no form to ${action ?? 'anywhere'}: ${page.visibleText}`,
    );
  return found;
}

const hasNoAction = ({ action }: PageButton) => action === undefined;

function withFiles(entries: readonly [string, string][], files: readonly File[]): FormData {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  for (const file of files) data.append('files', file);
  return data;
}

function matchesButton(button: string) {
  return ({ text, value }: PageForm['buttons'][number]) => text === button || value === button;
}

async function readPage(response: Response, url: string): Promise<PageResponse> {
  const text = await response.text();
  const document = parseDocument(text);
  const elements = (name: string) => findAll((element) => element.name === name, document.children);
  const anchors = elements('a').map(({ attribs }) => attribs);
  return {
    status: response.status,
    url,
    headers: response.headers,
    text,
    title: elements('title').map((title) => textContent(title))[0] ?? '',
    forms: elements('form')
      .filter(isPost)
      .map((form) => readForm(form, elements('button'))),
    links: anchors.map(({ href = '' }) => href),
    next: anchors.find(({ rel }) => rel === 'next')?.['href'],
    elements,
    visibleText: textContent(elements('body')).replaceAll(/\s+/g, ' ').trim(),
  };
}

/** Scripts that the service did not put there. Pages of the console have some of its own. */
export const foreignScripts = (page: PageResponse): Element[] =>
  page.elements('script').filter(({ attribs }) => !attribs['src']?.startsWith('/assets/'));

const isPost = (form: Element) => getAttributeValue(form, 'method') === 'post';

/** @param pageButtons those of the whole page: some send a form that they are not in */
function readForm(form: Element, pageButtons: readonly Element[]): PageForm {
  const all = (name: string) => findAll((element) => element.name === name, form.children);
  const named = (element: Element) => getAttributeValue(element, 'name');
  const valueOf = (element: Element) => getAttributeValue(element, 'value');
  const isOn = (element: Element) =>
    !['radio', 'checkbox'].includes(getAttributeValue(element, 'type') ?? '') || 'checked' in element.attribs;
  const inputs = all('input')
    .filter(isOn)
    .map((each) => [named(each), valueOf(each) ?? ''] as const);
  const areas = all('textarea').map((each) => [named(each), textContent(each)] as const);
  const selects = all('select').map((each) => {
    const options = findAll((element) => element.name === 'option', each.children);
    const chosen = options.find((option) => 'selected' in option.attribs) ?? options[0];
    return [named(each), (chosen && valueOf(chosen)) ?? ''] as const;
  });
  const id = getAttributeValue(form, 'id');
  const others = pageButtons.filter((each) => id !== undefined && getAttributeValue(each, 'form') === id);
  const buttons = [...new Set([...all('button'), ...others])].map((each) => ({
    name: named(each),
    value: valueOf(each) ?? '',
    text: textContent(each).trim(),
    action: getAttributeValue(each, 'formaction'),
  }));
  const fields = [...inputs, ...areas, ...selects].flatMap(([name, value]): [string, string][] =>
    name === undefined ? [] : [[name, value]],
  );
  return { action: getAttributeValue(form, 'action') ?? '', fields, buttons };
}

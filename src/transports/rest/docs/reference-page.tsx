import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { referenceClient } from '../../http/authorization-requests.ts';

interface DocsPageProps {
  title: string;
  /** Path of the page. */
  path: string;
  /** Path of the assets, with a slash at its end. */
  folder: string;
  styles: readonly string[];
  scripts?: readonly string[];
  children: ComponentChildren;
}

const links = [
  ['/docs', 'API reference'],
  ['/docs/events', 'Events'],
  ['/console', 'Console'],
] as const;

/** The HTML document of a page under /docs. */
export function renderDocsPage({ title, path, folder, styles, scripts = [], children }: DocsPageProps) {
  const html = renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · Agent Messaging Service`}</title>
        {styles.map((name) => (
          <link rel="stylesheet" href={folder + name} key={name} />
        ))}
        <link rel="icon" type="image/png" href={`${folder}favicon-32x32.png`} />
        {scripts.map((name) => (
          <script src={folder + name} defer key={name} />
        ))}
      </head>
      <body class="docs" data-client={referenceClient.client_id}>
        <header class="docs-top">
          <nav aria-label="Documentation">
            <ul>
              {links.map(([address, name]) => (
                <li key={address}>
                  <a href={address} aria-current={address === path ? 'page' : undefined}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </header>
        {children}
      </body>
    </html>,
  );
  return `<!doctype html>${html}`;
}

/** `/docs`: Swagger UI, with the access token that its requests carry. */
export function referencePage(folder: string): string {
  return renderDocsPage({
    title: 'API reference',
    path: '/docs',
    folder,
    styles: ['tokens.css', 'swagger-ui.css', 'docs.css'],
    scripts: ['swagger-ui-bundle.js', 'docs.js'],
    children: (
      <main>
        <section class="access" aria-label="Access token" hidden>
          <p role="status" />
          <form>
            <label for="token">Access token</label>
            <input id="token" type="password" autocomplete="off" spellcheck={false} required />
            <button type="submit">Use token</button>
            <button type="button" id="sign-in">
              Sign in
            </button>
          </form>
          <button type="button" id="sign-out" hidden>
            Sign out
          </button>
        </section>
        <div id="reference" />
        <noscript>
          <p>
            The API reference needs JavaScript. You can also read the <a href="/v1/openapi.json">OpenAPI</a>,{' '}
            <a href="/v1/openapi-long-paths.json">OpenAPI of the long paths</a> and{' '}
            <a href="/v1/asyncapi.json">AsyncAPI</a> documents, and the page about{' '}
            <a href="/docs/events">events</a>.
          </p>
        </noscript>
      </main>
    ),
  });
}

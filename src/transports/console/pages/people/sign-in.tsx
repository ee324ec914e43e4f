import type { PageParts } from '../../parts.ts';
import {
  safeReturnPath,
  publicAction,
  signInAddress,
  publicPage,
  type ShownPage,
  type Visit,
} from '../../route.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { auditFailedSignIn } from '../../../../services/audit.ts';
import { addressKey } from '../../../http/address-key.ts';
import { checkPassword } from '../../../../services/people/sign-in.ts';
import { ExternalLink } from './account-fields.tsx';
import { Field } from '../../components/field.tsx';
import { Button, Form } from '../../components/form.tsx';
import { focusPage } from '../../define/focus-page.tsx';
import { orShowFormAgain, type ShownErrors } from '../../form-errors.ts';
import {
  type KeptForm,
  keptFormPath,
  maxKeptFormBytes,
  packKeptForm,
  readKeptForm,
} from '../../kept-form.ts';

/** Limits the length of rate limit keys. Usernames are shorter. */
const maxUsernameLength = 80;

/** Counts an attempt to sign in. @throws {DomainError} RATE_LIMITED */
async function consumeLimits({ ctx, parts }: Visit, username: string): Promise<void> {
  const { limits, knownBrowsers } = parts;
  const name = canonicalName(username);
  const address = addressKey(ctx);
  await limits.consume('sign_in_address', address);
  // Each sign-in renews the id of the browser, so only the address limits right passwords.
  const browser = knownBrowsers.find(ctx, name);
  if (browser !== undefined) return limits.consume('sign_in', `${name} browser ${browser}`);
  await limits.consume('sign_in', `${name} ${address}`);
  try {
    await limits.consume('sign_in_account', name);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'RATE_LIMITED') throw error;
    // Many wrong passwords from several addresses slow the attempts down. Refusing them all would lock the person out.
    await limits.consume('sign_in_slow', name);
  }
}

/** Signs in with username and password. */
export const signInPages = [
  publicPage('/sign-in', ({ query, person, parts }) => {
    const to = safeReturnPath(query.get('to'));
    return person ? { to } : signInPage(parts, { to });
  }),
  publicAction(
    '/sign-in',
    (visit) => {
      const { ctx, form, parts } = visit;
      const { services, sessions, knownBrowsers } = parts;
      const to = safeReturnPath(form.get('to'));
      const username = form.get('username') ?? '';
      const kept = readKeptForm(form.get('kept'));
      const showAgain = (errors: ShownErrors) => signInPage(parts, { to, kept, username }, errors);
      return orShowFormAgain(async () => {
        await consumeLimits(visit, username);
        const found = await services.run(checkPassword, username, form.get('password') ?? '');
        if (!found) {
          const address = ctx.ip.replace(/^::ffff:/, '');
          await services.write(undefined, auditFailedSignIn, username, address);
          return showAgain({ status: 400, message: wrongCredentialsMessage, retry_after: undefined });
        }
        await sessions.begin(ctx, found.account_id);
        knownBrowsers.remember(ctx, canonicalName(username));
        return kept ? continuePage(kept) : { to };
      }, showAgain);
    },
    maxKeptFormBytes,
  ),
];

function canonicalName(username: string): string {
  return username.trim().toLowerCase().slice(0, maxUsernameLength);
}

const wrongCredentialsMessage = 'Wrong username or password.';

/** Asks a person whose session has ended to sign in, and keeps the form that they sent. */
export function signInForForm(parts: SignInParts, kept: KeptForm): ShownPage {
  const errors = { status: 403, message: keptMessage, retry_after: undefined };
  return signInPage(parts, { to: kept.page, kept }, errors);
}

const keptMessage =
  'You signed in or out after opening the page. Nothing was changed. Sign in with your password to see the form again with what you entered.';

function continuePage(kept: KeptForm): ShownPage {
  return focusPage(
    'You are signed in',
    <>
      <p>The form that you sent before was not accepted. You can check it and send it again.</p>
      <Form action={keptFormPath} hidden={{ kept: packKeptForm(kept) }}>
        <Button wide>Show the form</Button>
      </Form>
    </>,
  );
}

type SignInParts = Pick<PageParts, 'settings' | 'external'>;

interface SignIn {
  to: string;
  /** A form to show again after the sign-in. */
  kept?: KeptForm | undefined;
  username?: string;
}

function signInPage({ settings, external }: SignInParts, given: SignIn, errors?: ShownErrors): ShownPage {
  const { to, kept, username } = given;
  const isConnecting = to.startsWith('/authorize/');
  const content = (
    <>
      <Form action="/sign-in" hidden={{ to, kept: kept && packKeptForm(kept) }}>
        <Field
          name="username"
          label="Username"
          value={username}
          autocomplete="username"
          plain
          required
          autofocus={username === undefined}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          required
          autofocus={username !== undefined}
        />
        <Button wide>Sign in</Button>
      </Form>
      {external && <ExternalLink name={external.name} to={to} />}
    </>
  );
  return focusPage('Sign in', content, {
    lead: isConnecting ? 'After you sign in, you decide what the app may do.' : undefined,
    aside: settings.signup !== 'closed' && (
      <>
        New here? <a href={`/sign-up?${new URLSearchParams({ to }).toString()}`}>Create an account</a>
      </>
    ),
    errors,
    asksPassword: true,
  });
}

/** Signs out. With `to`, another person can sign in and continue there. */
export const signOutAction = publicAction('/sign-out', async ({ ctx, form, parts }) => {
  await parts.sessions.end(ctx);
  return { to: signInAddress(safeReturnPath(form.get('to'))), flash: 'You are signed out.' };
});

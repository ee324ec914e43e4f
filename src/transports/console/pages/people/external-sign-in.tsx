import type { Context } from 'koa';
import { addressKey } from '../../../http/address-key.ts';
import {
  beginExternalSignIn,
  finishExternalSignIn,
  signUpExternal,
  readSuggestedUsername,
  type ExternalOutcome,
} from '../../../../services/people/external-identities.ts';
import { cookieOf, setCookie } from '../../cookies.ts';
import { type FieldDefinitions, Fields, readFields } from '../../define/fields.tsx';
import { newAccountFields } from './account-fields.tsx';
import { Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import {
  safeReturnPath,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
} from '../../route.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { focusPage } from '../../define/focus-page.tsx';

type ExternalReason = Extract<ExternalOutcome, { outcome: 'failed' }>['reason'];

/** Status, title and text for each failure of external sign-in. `name` is the name of the provider. */
const reasons: Record<ExternalReason, (name: string) => [status: number, title: string, text: string]> = {
  declined: (name) => [
    403,
    'You are not signed in',
    `You did not give your consent at ${name}. Nothing was changed.`,
  ],
  unavailable: (name) => [
    503,
    `${name} does not answer`,
    'The provider is unavailable. Try again in a few minutes.',
  ],
  invalid: (name) => [
    400,
    'Invalid response',
    `The response from ${name} is invalid. Nothing was changed. Try again. If it fails again, contact the operator of this service.`,
  ],
  expired: () => [
    400,
    'This sign-in has expired',
    'It took too long, is already finished, or was started in another browser. Start again.',
  ],
  taken: (name) => [
    409,
    'Already connected with another account',
    `This ${name} account is already connected with another account here. Nothing was changed.`,
  ],
  other_person: () => [
    403,
    'A different person is signed in',
    'You signed out or signed in to another account in the meantime. Nothing was connected.',
  ],
  closed: (name) => [
    403,
    'No connected account',
    `No account is connected with this ${name} account, and sign-up is closed. If you have an account, sign in with your password, then connect it with ${name}.`,
  ],
};

/** The page for a failed external sign-in. */
export function externalFailurePage(
  reason: ExternalReason,
  name: string,
  person: Person | undefined,
): ShownPage {
  const [status, title, text] = reasons[reason](name);
  return focusPage(title, <p>{text}</p>, {
    status,
    retry_after: reason === 'unavailable' ? 60 : undefined,
    link: person
      ? { href: '/console/account', text: 'Go to your account' }
      : { href: '/sign-in', text: 'Go to sign-in' },
  });
}

const beginPath = '/sign-in/external';
const usernamePath = '/sign-in/external/username';
const cookieLifetimeMs = 1_800_000;

/** Binds the pending sign-in to this browser. */
export function setExternalCookie(ctx: Context, token: string): void {
  setCookie(ctx, 'external', token, cookieLifetimeMs);
}

/** Sign-in and sign-up through an OpenID Connect provider. No routes without a provider. */
export function externalSignInRoutes(parts: PageParts): ConsoleRoute[] {
  const { services, limits, sessions, settings, external } = parts;
  if (!external) return [];
  const { name, provider } = external;
  const { signup } = settings;
  const fields = newAccountFields(signup === 'invite');

  return [
    publicPage(beginPath, async ({ ctx, query, person }) => {
      const to = safeReturnPath(query.get('to'));
      // Only pages of this site can start: another site could sign a visitor in to a foreign account.
      const isCrossSite = ['cross-site', 'same-site'].includes(ctx.get('Sec-Fetch-Site'));
      if (person || isCrossSite) return { to: person ? to : signInAddress(to) };
      await limits.consume('sign_in_address', addressKey(ctx));
      const pending = await services.run(beginExternalSignIn, provider, { to, account_id: null });
      if (!pending) return externalFailurePage('unavailable', name, person);
      setExternalCookie(ctx, pending.token);
      ctx.redirect(pending.address);
      return 'handled';
    }),

    publicPage(`${beginPath}/callback`, async ({ ctx, person }) => {
      const token = cookieOf(ctx, 'external');
      setCookie(ctx, 'external', null);
      if (token === undefined) return externalFailurePage('expired', name, person);
      const callback = { token, query: ctx.querystring, person };
      const result = await services.run(finishExternalSignIn, provider, callback, signup);
      if (result.outcome === 'failed') return externalFailurePage(result.reason, name, person);
      if (result.outcome === 'connected')
        return { to: result.to, flash: `Your account is connected with ${name}.` };
      if (result.outcome === 'new') {
        setExternalCookie(ctx, result.token);
        return { to: usernamePath };
      }
      await sessions.begin(ctx, result.account_id);
      return { to: safeReturnPath(result.to) };
    }),

    publicPage(usernamePath, async ({ ctx, person }) => {
      const pending = await services.run(readSuggestedUsername, cookieOf(ctx, 'external') ?? '');
      if (!pending || signup === 'closed') return externalFailurePage('expired', name, person);
      return choicePage(name, fields, { username: pending.suggested_username ?? undefined });
    }),

    publicAction(usernamePath, ({ ctx, form, person }) => {
      const entered = readFields(fields, form);
      return orShowFormAgain(
        async () => {
          await limits.consume('sign_up', addressKey(ctx));
          const token = cookieOf(ctx, 'external') ?? '';
          const opened = await services.run(signUpExternal, token, entered, signup);
          if (!opened) return externalFailurePage('expired', name, person);
          setCookie(ctx, 'external', null);
          await sessions.begin(ctx, opened.account_id);
          const text = `Welcome, ${entered.username.trim().toLowerCase()}. Your account is ready.`;
          return { to: safeReturnPath(opened.to), flash: text };
        },
        (errors) => choicePage(name, fields, entered, errors),
      );
    }),
  ];
}

function choicePage(
  name: string,
  fields: FieldDefinitions,
  values: Readonly<Record<string, string | undefined>>,
  errors?: FormErrors,
): ShownPage {
  const content = (
    <Form action={usernamePath}>
      <Fields fields={fields} values={values} errors={errors?.fields ?? {}} />
      <Button wide>Create account</Button>
    </Form>
  );
  return focusPage('Choose a username', content, {
    lead: `You signed in with ${name} for the first time. Choose a username for your new account.`,
    aside: (
      <>
        Already have an account? <a href="/sign-in">Sign in</a> with your password, then connect it with{' '}
        {name}.
      </>
    ),
    errors,
  });
}

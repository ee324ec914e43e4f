import { expect, test } from 'vitest';
import { missingPythonReason, runPython } from '../../support/python.ts';
import { useSharedService } from '../../support/service.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';

describeUnless(missingPythonReason, 'tasks from Python', () => {
  const service = useSharedService();

  test('a worker asks back and completes, and the client waits for each', async () => {
    const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
    const result = await runPython(
      `
import json, os, threading
import agent_messaging as am

ada, bob = (am.Client(os.environ["URL"], os.environ[name]) for name in ("ADA", "BOB"))
handle = os.environ["BOB_HANDLE"]
asked = ada.tasks.create("When does it arrive?", with_handle=handle)
seen = []

def answer():
    for task in bob.tasks.work():
        seen.append([task.task["messages"][-1]["content"], task.state])
        if len(seen) == 1:
            task.working("I look.")
            task.ask_back("Which order?")
        elif len(seen) == 2:
            task.complete("Friday.", {"day": "Friday"})
        else:
            task.reject()
            return

worker = threading.Thread(target=answer)
worker.start()
question = ada.tasks.wait(asked["id"])
ada.messages.send(asked["thread_id"], "1042")
done = ada.tasks.wait(asked["id"], after_generation=question["generation"])
due = []
refused = ada.ask(handle, "And 1043?", due_in_seconds=7200, on_task=lambda task: due.append(task["due_at"] - task["created_at"]))
worker.join()
late = ada.tasks.create("Well?", with_handle=handle)
print(json.dumps({
    "seen": seen,
    "question": [question["state"], question["messages"][-1]["content"]],
    "done": [done["state"], done["messages"][-1]["data"]],
    "refused": [refused, due],
    "late": ada.tasks.wait(late["id"], timeout=0),
}))
`,
      { URL: service.url, ADA: ada.token, BOB: bob.token, BOB_HANDLE: bob.handle },
    );
    expect(result).toEqual({
      seen: [
        ['When does it arrive?', 'submitted'],
        ['1042', 'working'],
        ['And 1043?', 'submitted'],
      ],
      question: ['input_required', 'Which order?'],
      done: ['completed', { day: 'Friday' }],
      refused: [null, [7_200_000]],
      late: null,
    });
  });
});

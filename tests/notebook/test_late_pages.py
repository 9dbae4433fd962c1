"""A page that is loaded while a question is open: the kernel calls it, and asks it too."""

import threading
import time

from tests.notebook.test_buttons import Comm, alone, answering


def test_a_page_that_is_loaded_while_a_question_is_open_is_called_and_asked() -> None:
    buttons, page, made = alone()
    buttons.greeting = Comm()
    loaded = Comm()

    def load() -> None:
        while not made:
            time.sleep(0.01)
        opened = made[0].opened["data"]
        page.heard({"content": {"data": {"token": opened["token"], "digest": opened["digest"]}}})
        while {"kind": "asking"} not in getattr(buttons.greeting, "said", ()):
            time.sleep(0.01)
        page.left(None)
        buttons.join(loaded)

    loading, said = threading.Thread(target=load), answering(loaded, made, count=2)
    loading.start()
    assert buttons.ask("call", "send_mail", "{}", "c1", patience=20) == "yes"
    loading.join()
    said.join()
    assert [each.opened["data"]["cell"] for each in made] == ["c1", "c1"]

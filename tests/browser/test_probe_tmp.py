import json,sys
def test_line(notebook, page, screenshot):
    base = "from IPython.display import display\nh=display({'text/plain':'line','text/html':'<p>line</p>'},raw=True,display_id=True)\n"
    vs = ["{}", "{'text/plain':''}", "{'text/html':''}", "{'text/html':'','text/plain':''}", "{'text/html':'<!-- -->'}", "{'text/markdown':''}", "{'application/vnd.robotlab-nb.gone+json': {}}"]
    cells = [base + f"h.update({v}, raw=True)" for v in vs]
    cells += ["print('a')\n"+c+"\nprint('b')" for c in cells] + ["1;"]
    nb = notebook(cells)
    for i in range(len(cells)): nb.run(i)
    page.wait_for_timeout(500)
    JS="n => {const e=document.querySelectorAll('.jp-Notebook .jp-Cell')[n].querySelector('.jp-Cell-outputWrapper');const a=e.querySelector('.jp-OutputArea');return [e.getBoundingClientRect().height, a&&a.className, a&&getComputedStyle(a).minHeight, ...[...e.querySelectorAll('.jp-OutputArea-child')].map(x=>x.getBoundingClientRect().height)]}"
    for i in range(len(cells)):
        print(i, (vs*2+['none'])[i], page.evaluate(JS, i))
    nb.save()
    page.reload()
    page.wait_for_timeout(6000)
    for i in range(len(cells)):
        print(i, (vs*2+['none'])[i], page.evaluate(JS, i))
    import nbformat
    nbformat.validate(nbformat.read(nb.path, 4))
